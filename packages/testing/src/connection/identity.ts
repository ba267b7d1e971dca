import { ErrorCode, type Id, type RequestMessage } from '@zk/wire'
import { addAuthInfo, authenticate, firstAuthInfo } from '../database/index.ts'

export type Proof = Extract<RequestMessage, { op: 'auth' | 'sasl' }>

export const isProof = (message: RequestMessage): message is Proof => message.op === 'auth' || message.op === 'sasl'

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

  /** What it is answered. Behind any other code than Ok the connection is closed. */
  prove(message: Proof): { readonly err: number; readonly response?: { readonly token: null } } {
    // Where SASL was not set up, any token is answered with none.
    if (message.op === 'sasl') return { err: ErrorCode.Ok, response: { token: null } }
    const ids = authenticate(message.request, this.#address, this.#superDigest)
    if (ids === undefined) return { err: ErrorCode.AuthFailed }
    this.ids = addAuthInfo(this.ids, ids)
    return { err: ErrorCode.Ok }
  }
}
