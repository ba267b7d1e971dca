// The SASL packets on one connection. The mechanism makes the tokens in the packets. One packet is sent and answered at a
// time. No other request is sent before the last packet is answered, as in Java's client (ClientCnxnSocket).
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
  /** The xid of the last packet. The packets are numbered on their own: servers only return the number. */
  #xid = 0
  #due: Uint8Array | undefined
  #awaitsAnswer = false

  /** Takes the next token to send. */
  say(token: Uint8Array): void {
    this.#due = token
  }

  /** The frame to send now, if any. */
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

  /** Takes the answer to a packet. Returns the token in it (undefined if there is none), or 'refused'. */
  received({ xid, err, body }: Reply): { readonly token: Uint8Array | undefined } | 'refused' {
    if (!this.#awaitsAnswer || xid !== this.#xid) {
      throw new ProtocolError(`a reply with xid ${xid}, before SASL was complete`)
    }
    this.#awaitsAnswer = false
    if (isRefusal(err)) return 'refused'
    if (err !== ErrorCode.Ok) throw new ProtocolError(`SASL was answered with code ${err}`)
    return { token: readNamed(SetSASLResponse, body).token ?? undefined }
  }
}

/** A server that requires SASL answers a request before SASL with the second code (zookeeper.sessionRequireClientSASLAuth). */
const isRefusal = (err: number) => err === ErrorCode.AuthFailed || err === ErrorCode.SessionClosedRequireSaslAuth
