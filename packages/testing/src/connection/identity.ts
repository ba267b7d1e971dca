import { ErrorCode, type Id, type RequestMessage } from '@zk/wire'
import { addAuthInfo, authenticate, firstAuthInfo, type Release } from '../database/index.ts'
import type { Remote } from './host.ts'
import { SaslServer, type SaslSettings } from './sasl-server.ts'

type Proof = Extract<RequestMessage, { op: 'auth' | 'sasl' }>

export const isProof = (message: RequestMessage): message is Proof => message.op === 'auth' || message.op === 'sasl'

interface Proved {
  readonly err: number
  readonly response?: { readonly token: Uint8Array | null }
}

interface Checks {
  readonly superDigest: string | undefined
  readonly sasl: SaslSettings | undefined
  readonly random: () => number
  readonly release: Release
}

/** The identities that a client has proved (ServerCnxn.authInfo). */
export class Identity {
  ids: readonly Id[]
  readonly #address: string
  readonly #superDigest: string | undefined
  readonly #sasl: SaslSettings | undefined
  readonly #saslServer: SaslServer | undefined
  readonly #release: Release

  constructor({ address, certificate }: Remote, { superDigest, sasl, random, release }: Checks) {
    this.#release = release
    this.ids = firstAuthInfo(address)
    if (certificate !== undefined) this.#add([{ scheme: 'x509', id: certificate }])
    this.#address = address
    this.#superDigest = superDigest
    this.#sasl = sasl
    this.#saslServer = sasl && new SaslServer(sasl.users, random, release)
  }

  /** Whether the client must prove its identity first (AuthenticationHelper.enforceAuthentication). */
  get mustProve(): boolean {
    return this.#sasl?.isRequired === true && this.ids.every(({ scheme }) => scheme !== 'sasl')
  }

  /**
   * The answer to a proof of identity, or to another request while the client must prove its identity first. After a code
   * other than Ok the connection is closed. undefined means that it is closed without an answer.
   */
  prove(message: RequestMessage): Proved | undefined {
    if (!isProof(message)) return { err: ErrorCode.SessionClosedRequireSaslAuth }
    if (message.op === 'sasl') return this.#sasls(message.request.token)
    const ids = authenticate(message.request, this.#address, this.#superDigest)
    if (ids === undefined) return { err: ErrorCode.AuthFailed }
    this.#add(ids)
    return { err: ErrorCode.Ok }
  }

  #add(ids: readonly Id[]): void {
    this.ids = addAuthInfo(this.ids, ids, this.#release)
  }

  /** ZooKeeperServer.processSasl */
  #sasls(token: Uint8Array | null): Proved | undefined {
    // A real server throws an exception.
    if (token === null) return undefined
    // If SASL is not set up, the answer to any token has no token.
    if (this.#saslServer === undefined) return { err: ErrorCode.Ok, response: { token: null } }
    const verdict = this.#saslServer.evaluate(token)
    if (verdict === 'refused') {
      const err = this.#sasl?.isRequired === true ? ErrorCode.SessionClosedRequireSaslAuth : ErrorCode.AuthFailed
      return { err, response: { token: null } }
    }
    if (verdict.user !== undefined) {
      const isSuper = verdict.user === this.#sasl?.superUser
      const own = { scheme: 'sasl', id: verdict.user }
      this.#add(isSuper ? [own, { scheme: 'super', id: '' }] : [own])
    }
    return { err: ErrorCode.Ok, response: { token: verdict.token } }
  }
}
