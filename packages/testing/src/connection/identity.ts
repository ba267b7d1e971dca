import { ErrorCode, type Id, type RequestMessage } from '@zk/wire'
import { addAuthInfo, authenticate, firstAuthInfo } from '../database/index.ts'
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
}

/** The identities of a client, as far as it has proved them (ServerCnxn.authInfo). */
export class Identity {
  ids: readonly Id[]
  readonly #address: string
  readonly #superDigest: string | undefined
  readonly #sasl: SaslSettings | undefined
  readonly #saslServer: SaslServer | undefined

  constructor({ address, certificate }: Remote, { superDigest, sasl, random }: Checks) {
    const first = firstAuthInfo(address)
    this.ids = certificate === undefined ? first : addAuthInfo(first, [{ scheme: 'x509', id: certificate }])
    this.#address = address
    this.#superDigest = superDigest
    this.#sasl = sasl
    this.#saslServer = sasl && new SaslServer(sasl.users, random)
  }

  /** Whether nothing else is done for it yet (AuthenticationHelper.enforceAuthentication). */
  get mustProve(): boolean {
    return this.#sasl?.isRequired === true && this.ids.every(({ scheme }) => scheme !== 'sasl')
  }

  /** What it is answered, to anything while it must prove: behind any other code than Ok the connection is closed. undefined: it is closed without. */
  prove(message: RequestMessage): Proved | undefined {
    if (!isProof(message)) return { err: ErrorCode.SessionClosedRequireSaslAuth }
    if (message.op === 'sasl') return this.#sasls(message.request.token)
    const ids = authenticate(message.request, this.#address, this.#superDigest)
    if (ids === undefined) return { err: ErrorCode.AuthFailed }
    this.ids = addAuthInfo(this.ids, ids)
    return { err: ErrorCode.Ok }
  }

  /** ZooKeeperServer.processSasl */
  #sasls(token: Uint8Array | null): Proved | undefined {
    // That makes a server stumble.
    if (token === null) return undefined
    // Where it was not set up, any token is answered with none.
    if (this.#saslServer === undefined) return { err: ErrorCode.Ok, response: { token: null } }
    const said = this.#saslServer.evaluate(token)
    if (said === 'refused') {
      const err = this.#sasl?.isRequired === true ? ErrorCode.SessionClosedRequireSaslAuth : ErrorCode.AuthFailed
      return { err }
    }
    if (said.user !== undefined) {
      const isSuper = said.user === this.#sasl?.superUser
      const own = { scheme: 'sasl', id: said.user }
      this.ids = addAuthInfo(this.ids, isSuper ? [own, { scheme: 'super', id: '' }] : [own])
    }
    return { err: ErrorCode.Ok, response: { token: said.token } }
  }
}
