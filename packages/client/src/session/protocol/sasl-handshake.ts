// The packets of SASL on one connection, without what is in them: tokens are the mechanism's. One is sent and answered at a
// time, and before the last is answered nothing else is sent: Java's client does so, too (ClientCnxnSocket).
import {
  encodeFrame,
  ErrorCode,
  GetSASLRequest,
  OpCode,
  ProtocolError,
  readNamed,
  RequestHeader,
  SetSASLResponse,
} from '@zk/wire'
import type { Incoming } from './incoming.ts'

type Reply = Extract<Incoming, { type: 'reply' }>

export class SaslHandshake {
  /** Numbers of their own: servers only give them back. */
  #xid = 0
  #due: Uint8Array | undefined
  #awaitsAnswer = false

  /** A token to send. */
  say(token: Uint8Array): void {
    this.#due = token
  }

  /** The frame to send now. */
  transmit(): Uint8Array | undefined {
    const token = this.#due
    if (token === undefined) return undefined
    this.#due = undefined
    this.#awaitsAnswer = true
    this.#xid++
    return encodeFrame((writer) => {
      RequestHeader.write(writer, { xid: this.#xid, type: OpCode.sasl })
      GetSASLRequest.write(writer, { token })
    })
  }

  /** The token in an answer, undefined where it has none; or that the server refuses us. */
  received({ xid, err, body }: Reply): { readonly token: Uint8Array | undefined } | 'refused' {
    if (!this.#awaitsAnswer || xid !== this.#xid) {
      throw new ProtocolError(`a reply with xid ${xid}, before SASL was through`)
    }
    this.#awaitsAnswer = false
    if (isRefusal(err)) return 'refused'
    if (err !== ErrorCode.Ok) throw new ProtocolError(`SASL was answered with code ${err}`)
    return { token: readNamed(SetSASLResponse, body).token ?? undefined }
  }
}

/** The second answers a request before SASL, where a server wants SASL first (zookeeper.sessionRequireClientSASLAuth). */
const isRefusal = (err: number) => err === ErrorCode.AuthFailed || err === ErrorCode.SessionClosedRequireSaslAuth
