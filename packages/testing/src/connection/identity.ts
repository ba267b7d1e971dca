import { ErrorCode, type Id, type RequestMessage } from '@zk/wire'
import { addAuthInfo, authenticate, firstAuthInfo } from '../database/index.ts'

export type Proof = Extract<RequestMessage, { op: 'auth' | 'sasl' }>

export const isProof = (message: RequestMessage): message is Proof => message.op === 'auth' || message.op === 'sasl'

interface Proved {
  readonly err: number
  readonly response?: { readonly token: null }
}

/** Who a client is, as far as it has proved it (ServerCnxn.authInfo). */
export class Identity {
  ids: readonly Id[]
  readonly #address: string
  readonly #superDigest: string | undefined

  constructor(address: string, superDigest: string | undefined) {
    this.ids = firstAuthInfo(address)
    this.#address = address
    this.#superDigest = superDigest
  }

  /** What it is answered: behind any other code than Ok the connection is closed. undefined: it is closed without. */
  prove(message: Proof): Proved | undefined {
    // Where SASL was not set up, any token is answered with none; and none makes a server stumble.
    if (message.op === 'sasl') {
      return message.request.token === null ? undefined : { err: ErrorCode.Ok, response: { token: null } }
    }
    const ids = authenticate(message.request, this.#address, this.#superDigest)
    if (ids === undefined) return { err: ErrorCode.AuthFailed }
    this.ids = addAuthInfo(this.ids, ids)
    return { err: ErrorCode.Ok }
  }
}
