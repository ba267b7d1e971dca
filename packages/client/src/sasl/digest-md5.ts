// DIGEST-MD5 (RFC 2831) as ZooKeeper's Java server implements it: quality of protection `auth`, no subsequent authentication.
import { KeeperError } from '../base/errors.ts'
import { checkKeys } from '../base/arguments.ts'
import { parseDirectives, quoted } from './directives.ts'
import type { SaslExchange, SaslMechanism } from './mechanism.ts'

/** The options of `digestMd5`. */
export interface DigestMd5Options {
  /** The user, as in the JAAS configuration of the servers. */
  username: string
  /** The password. It is never sent: the client only proves that it has it. */
  password: string
  /** The identity to act as. @default username */
  authorizationId?: string | undefined
  /** The realm. @default the first one that the server offers */
  realm?: string | undefined
  /** The service and the host name, as the servers have them. @default 'zookeeper/zk-sasl-md5', as in every ZooKeeper */
  digestUri?: string | undefined
}

const known = ['username', 'password', 'authorizationId', 'realm', 'digestUri']
/** The service and the host name in ZooKeeper's servers (SecurityUtils.createSaslServer). */
const DIGEST_URI = 'zookeeper/zk-sasl-md5'
const FIRST_USE = '00000001'

/** Makes the mechanism for servers with a `DigestLoginModule` in their JAAS configuration. */
export function digestMd5(options: DigestMd5Options): SaslMechanism {
  const { username, password, authorizationId, realm, digestUri = DIGEST_URI } = checked(options)
  return {
    name: 'DIGEST-MD5',
    start: ({ nonce }) =>
      new Exchange({ username, password, authorizationId, realm, digestUri, cnonce: nonce().replaceAll('-', '') }),
  }
}

interface Proof {
  readonly username: string
  readonly password: string
  readonly authorizationId: string | undefined
  readonly realm: string | undefined
  readonly digestUri: string
  readonly cnonce: string
}

class Exchange implements SaslExchange {
  readonly #proof: Proof
  /** The proof of the server that it knows the password, too; undefined before the client has answered. */
  #expected: string | undefined

  constructor(proof: Proof) {
    this.#proof = proof
  }

  step(challenge: Uint8Array | undefined): Uint8Array | undefined {
    if (this.#expected === undefined) return this.#answer(challenge)
    // If the client's proof is wrong, a server that accepts such clients (zookeeper.allowSaslFailedClients) sends nothing
    // here.
    if (challenge === undefined) throw new KeeperError('AuthFailed', { op: 'connect' })
    const proof = parseDirectives(challenge).get('rspauth')
    if (proof?.[0] !== this.#expected) throw new Error('DIGEST-MD5: the server does not know the password itself')
    return undefined
  }

  #answer(challenge: Uint8Array | undefined): Uint8Array {
    if (challenge === undefined) {
      throw new Error(
        'the server does not know SASL: it has no JAAS configuration with a Server section; set it up, or leave out ' +
          'the option sasl',
      )
    }
    const offered = parseDirectives(challenge)
    const nonce = only(offered.get('nonce'), 'nonce')
    if (only(offered.get('algorithm'), 'algorithm') !== 'md5-sess')
      throw unsupported('an algorithm other than md5-sess')
    const qop = offered.get('qop')?.flatMap((each) => each.split(/[\t ]*,[\t ]*/)) ?? ['auth']
    if (!qop.includes('auth')) throw unsupported('a quality of protection other than auth')
    const { username, authorizationId, digestUri, cnonce } = this.#proof
    const realm = this.#proof.realm ?? offered.get('realm')?.[0]
    const isUtf8 = offered.get('charset')?.[0]?.toLowerCase() === 'utf-8'
    const session = { ...this.#proof, realm: realm ?? '', nonce, isUtf8 }
    this.#expected = responseOf(session, '')
    const answer = [
      ...(isUtf8 ? ['charset=utf-8'] : []),
      `username=${quoted(username)}`,
      ...(realm === undefined ? [] : [`realm=${quoted(realm)}`]),
      `nonce=${quoted(nonce)}`,
      `nc=${FIRST_USE}`,
      `cnonce=${quoted(cnonce)}`,
      `digest-uri=${quoted(digestUri)}`,
      'qop=auth',
      `response=${responseOf(session, 'AUTHENTICATE')}`,
      ...(authorizationId === undefined ? [] : [`authzid=${quoted(authorizationId)}`]),
    ]
    return bytesOf(answer.join(','), isUtf8)
  }
}

/** The proof of RFC 2831, 2.1.2.1. `method` is empty for the proof of the server. */
function responseOf(
  { username, realm, password, nonce, cnonce, authorizationId, digestUri, isUtf8 }: Proof & Offer,
  method: 'AUTHENTICATE' | '',
): string {
  const secret = newMd5()
  for (const [index, part] of [username, realm, password].entries()) {
    secret.update(index === 0 ? '' : ':').update(hashedBytes(part, isUtf8))
  }
  const a1 = newMd5()
    .update(secret.digest())
    .update(bytesOf(`:${nonce}:${cnonce}`, isUtf8))
  if (authorizationId !== undefined) a1.update(bytesOf(`:${authorizationId}`, isUtf8))
  const a2 = md5(bytesOf(`${method}:${digestUri}`, isUtf8))
  return md5(bytesOf(`${a1.digest('hex')}:${nonce}:${FIRST_USE}:${cnonce}:auth:${a2}`, isUtf8))
}

interface Offer {
  readonly realm: string
  readonly nonce: string
  readonly isUtf8: boolean
}

const md5 = (bytes: Uint8Array) => newMd5().update(bytes).digest('hex')

// oxlint-disable-next-line no-restricted-globals -- loads node:crypto here, because most programs do not need it
const newMd5 = () => process.getBuiltinModule('node:crypto').createHash('md5')

const NOT_LATIN_1 = /[\u0100-\uffff]/

/** The bytes to hash for a name or a password: ISO 8859-1 if the text fits into it, even if everything else is UTF-8. */
function hashedBytes(text: string, isUtf8: boolean): Uint8Array {
  return bytesOf(text, isUtf8 && NOT_LATIN_1.test(text))
}

function bytesOf(text: string, isUtf8: boolean): Uint8Array {
  if (isUtf8) return new TextEncoder().encode(text)
  if (NOT_LATIN_1.test(text)) throw unsupported('a name and a password in ISO 8859-1 (it has not sent charset=utf-8)')
  return Uint8Array.from(text, (character) => character.charCodeAt(0))
}

function only(values: readonly string[] | undefined, name: string): string {
  if (values?.length === 1) return values[0]!
  throw new Error(
    `DIGEST-MD5: the challenge of the server has ${values === undefined ? 'no' : 'more than one'} ${name}`,
  )
}

const unsupported = (what: string) =>
  new Error(`DIGEST-MD5: the server wants ${what}, which this client does not support`)

function checked(options: DigestMd5Options): DigestMd5Options {
  checkKeys('digestMd5', options, known, '{ username, password }')
  for (const name of ['username', 'password'] as const) {
    if (typeof options[name] !== 'string' || options[name] === '') {
      throw new TypeError(`digestMd5: ${name} must be a string, and not empty`)
    }
  }
  for (const name of ['authorizationId', 'realm', 'digestUri'] as const) {
    if (options[name] !== undefined && typeof options[name] !== 'string') {
      throw new TypeError(`digestMd5: ${name} must be a string`)
    }
  }
  return options
}
