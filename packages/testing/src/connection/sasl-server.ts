// The server's side of SASL DIGEST-MD5 (RFC 2831), as Java's DigestMD5Server with ZooKeeper's SaslServerCallbackHandler.
// oxlint-disable-next-line no-restricted-imports -- a hash does no I/O: the same bytes give the same answer
import { createHash } from 'node:crypto'
import type { Release } from '../database/index.ts'

export interface SaslSettings {
  /** Passwords by the names of their users. */
  readonly users: ReadonlyMap<string, string>
  /** The user that may do everything. */
  readonly superUser: string | undefined
  /** Whether a client is served only after it has proved its identity. */
  readonly isRequired: boolean
}

/** SecurityUtils.createSaslServer */
const REALM = 'zk-sasl-md5'
const DIGEST_URI = `zookeeper/${REALM}`
const FIRST_USE = '00000001'

/** The answer to a token: 'refused', or another token, with the user if the client has proved to be that user. */
export type Said = { readonly token: Uint8Array; readonly user?: string } | 'refused'

/** The password that was asked for last: without `knowsSaslUsers` it is also that of a user who is not known. */
const lastPasswords = new WeakMap<SaslSettings['users'], string>()

/** One exchange, on one connection. */
export class SaslServer {
  readonly #users: SaslSettings['users']
  readonly #random: () => number
  readonly #release: Release
  #state: { readonly name: 'new' | 'over' } | { readonly name: 'asked'; readonly nonce: string } = { name: 'new' }

  constructor(users: SaslSettings['users'], random: () => number, release: Release) {
    this.#users = users
    this.#random = random
    this.#release = release
  }

  evaluate(token: Uint8Array): Said {
    const state = this.#state
    this.#state = { name: 'over' }
    if (state.name === 'asked') return this.#verify(token, state.nonce)
    if (state.name === 'over') return 'refused'
    // The first token of the client does not matter.
    const nonce = this.#nonce()
    this.#state = { name: 'asked', nonce }
    return { token: new TextEncoder().encode(`realm="${REALM}",nonce="${nonce}",charset=utf-8,algorithm=md5-sess`) }
  }

  #verify(token: Uint8Array, nonce: string): Said {
    const answer = directives(new TextDecoder().decode(token))
    const { username = '', realm = '', cnonce, response } = answer
    const password = this.#passwordOf(username)
    const isInOrder =
      answer['nonce'] === nonce &&
      answer['nc'] === FIRST_USE &&
      answer['digest-uri']?.toLowerCase() === DIGEST_URI &&
      (answer['qop'] ?? 'auth') === 'auth' &&
      (realm === '' || realm === REALM)
    if (!isInOrder || password === undefined || cnonce === undefined) return 'refused'
    const secret = md5(latin1(username), ':', latin1(realm), ':', latin1(password))
    // authzid is part of the proof. ZooKeeper uses the user as identity, whatever authzid is (AuthorizeCallback).
    const authzid = answer['authzid'] === undefined ? [] : [':', answer['authzid']]
    const a1 = md5(secret, ':', nonce, ':', cnonce, ...authzid).toString('hex')
    const proof = (method: string) => {
      const a2 = md5(method, ':', answer['digest-uri']!).toString('hex')
      return md5(`${a1}:${nonce}:${FIRST_USE}:${cnonce}:auth:${a2}`).toString('hex')
    }
    if (response !== proof('AUTHENTICATE')) return 'refused'
    return { token: new TextEncoder().encode(`rspauth=${proof('')}`), user: username }
  }

  #passwordOf(username: string): string | undefined {
    const password = this.#users.get(username)
    if (password !== undefined) lastPasswords.set(this.#users, password)
    return password ?? (this.#release.knowsSaslUsers ? undefined : lastPasswords.get(this.#users))
  }

  #nonce(): string {
    return Array.from({ length: 32 }, () => Math.floor(this.#random() * 16).toString(16)).join('')
  }
}

function md5(...parts: readonly (string | Uint8Array)[]) {
  const hash = createHash('md5')
  for (const part of parts) hash.update(part)
  return hash.digest()
}

/** The text in ISO 8859-1 if possible, otherwise in UTF-8. */
function latin1(text: string): Uint8Array {
  if (/[\u0100-\uffff]/.test(text)) return new TextEncoder().encode(text)
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

const DIRECTIVE = /([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\[^])*)"|([^\s",]*))/g

function directives(text: string): Record<string, string | undefined> {
  const all = Array.from(text.matchAll(DIRECTIVE), ([, name = '', inQuotes, unquoted]) => {
    return [name.toLowerCase(), inQuotes?.replaceAll(/\\([^])/g, '$1') ?? unquoted] as const
  })
  return Object.fromEntries(all)
}
