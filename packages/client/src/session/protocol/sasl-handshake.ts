// The packets of SASL on one connection. The mechanism makes the tokens in them. One packet is sent and answered at a time.
// Before the last one is answered nothing else is sent, as in Java's client (ClientCnxnSocket).
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
  /** The xids of the packets: servers only return them. */
  #xid = 0
  #due: Uint8Array | undefined
  #awaitsAnswer = false

  /** Takes a token to send. */
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

  /** Takes an answer. Returns its token, undefined where it has none, or 'refused'. */
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

/** The second code answers a request before SASL at a server that requires SASL (zookeeper.sessionRequireClientSASLAuth). */
const isRefusal = (err: number) => err === ErrorCode.AuthFailed || err === ErrorCode.SessionClosedRequireSaslAuth
