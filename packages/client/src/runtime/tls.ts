// The option `tls` of connect, and its checks. Error messages never show a value, because values include keys and
// passphrases.
import { checkKeys, isBytes } from '../base/arguments.ts'

/** PEM text, or the bytes of it. */
type Pem = string | Uint8Array

/** The certificate of a server, for `checkServerIdentity`. */
export interface ServerCertificate {
  /** The subject, by the parts of the name: `CN`, `O` … */
  readonly subject: Readonly<Record<string, string | readonly string[]>>
  /** The issuer, by the parts of the name. */
  readonly issuer: Readonly<Record<string, string | readonly string[]>>
  /** The names and addresses for which it is valid, such as `DNS:zk1, IP Address:10.0.0.1`. */
  readonly subjectaltname?: string | undefined
  /** SHA-256 of the certificate, in hexadecimal with colons, to pin it. */
  readonly fingerprint256: string
  /** The serial number, in hexadecimal. */
  readonly serialNumber: string
  /** The start of the validity, as OpenSSL prints it: `Nov 23 09:00:00 2026 GMT`. */
  readonly valid_from: string
  /** The end of the validity, in the same form. */
  readonly valid_to: string
  /** The certificate as DER. */
  readonly raw: Uint8Array
}

/** Options of TLS. Names and meanings are those of `node:tls`. */
export interface TlsOptions {
  /** The certificates of the authorities that may sign servers' certificates. @default the authorities that the runtime trusts */
  ca?: Pem | readonly Pem[] | undefined
  /** The certificate of the client and its intermediate certificates, for servers that want one (mutual TLS). */
  cert?: Pem | readonly Pem[] | undefined
  /** The key of `cert`. */
  key?: Pem | readonly (Pem | { readonly pem: Pem; readonly passphrase?: string | undefined })[] | undefined
  /** `cert` and `key` in one, as PKCS #12. */
  pfx?:
    | Uint8Array
    | readonly (Uint8Array | { readonly buf: Uint8Array; readonly passphrase?: string | undefined })[]
    | undefined
  /** Decrypts `key` or `pfx`. */
  passphrase?: string | undefined
  /** Revoked certificates. */
  crl?: Pem | readonly Pem[] | undefined
  /** The name to send as SNI and to look for in the certificate. @default the host of the server; no SNI for an IP address */
  servername?: string | undefined
  /** False accepts any certificate: an attacker on the network path can then read and change everything. @default true */
  rejectUnauthorized?: boolean | undefined
  /** Replaces the check that a trusted certificate is for this host. Return an `Error` to refuse the certificate. */
  checkServerIdentity?: ((host: string, certificate: ServerCertificate) => Error | undefined) | undefined
  /** The lowest version to accept. @default the runtime's: TLSv1.2 */
  minVersion?: TlsVersion | undefined
  /** The highest version to accept. @default the runtime's: TLSv1.3 */
  maxVersion?: TlsVersion | undefined
  /** The ciphers, in OpenSSL's form. @default the runtime's */
  ciphers?: string | undefined
  /** Curves for the exchange of keys, separated by colons. @default the runtime's */
  ecdhCurve?: string | undefined
  /** Signature algorithms, separated by colons. @default the runtime's */
  sigalgs?: string | undefined
}

/** The versions of the protocol, as `node:tls` names them. */
export type TlsVersion = 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'

/**
 * The option `tls`. `true` means TLS with all defaults. A function is called for each connection, so certificates may change.
 */
export type TlsSource = true | TlsOptions | (() => true | TlsOptions | Promise<true | TlsOptions>)

const kinds = {
  ca: 'keyMaterial',
  cert: 'keyMaterial',
  key: 'keyMaterial',
  pfx: 'keyMaterial',
  passphrase: 'string',
  crl: 'keyMaterial',
  servername: 'string',
  rejectUnauthorized: 'boolean',
  checkServerIdentity: 'function',
  minVersion: 'version',
  maxVersion: 'version',
  ciphers: 'string',
  ecdhCurve: 'string',
  sigalgs: 'string',
} as const satisfies Record<keyof TlsOptions, Kind>

type Kind = 'keyMaterial' | 'version' | 'string' | 'boolean' | 'function'

const VERSIONS: readonly unknown[] = ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] satisfies TlsVersion[]

const expected: Record<Kind, string> = {
  keyMaterial: 'a string, a Uint8Array or a list of these',
  version: VERSIONS.join(', '),
  string: 'a string',
  boolean: 'true or false',
  function: 'a function',
}

/** Throws a `TypeError` that names the wrong option. Accepts undefined, and a function: its result is checked later. */
export function checkTlsSource(tls: unknown): void {
  if (tls !== undefined && typeof tls !== 'function') checkTls(tls)
}

/** Returns the options for node:tls. Throws a `TypeError` that names the wrong option. */
export function checkTls(tls: unknown): TlsOptions {
  if (tls === true) return {}
  if (typeof tls !== 'object' || tls === null || Array.isArray(tls)) {
    throw new TypeError('tls must be true, an object such as { ca, cert, key }, or a function that returns one')
  }
  checkKeys('tls', tls, Object.keys(kinds))
  const given = Object.entries(tls).filter(([, value]) => value !== undefined)
  for (const [name, value] of given) {
    const kind: Kind = kinds[name as keyof typeof kinds]
    if (!isOf(kind, value)) throw new TypeError(`tls.${name} must be ${expected[kind]}`)
  }
  const options = Object.fromEntries(given) as TlsOptions
  if (options.servername !== undefined && isAddress(options.servername)) {
    throw new TypeError('tls.servername must be a host name: there is no SNI for addresses')
  }
  if ((options.cert === undefined) !== (options.key === undefined)) {
    throw new TypeError(
      `tls.cert and tls.key belong together: tls.${options.key === undefined ? 'key' : 'cert'} is missing`,
    )
  }
  return options
}

function isOf(kind: Kind, value: unknown): boolean {
  switch (kind) {
    case 'keyMaterial':
      return Array.isArray(value) ? value.every(isKeyMaterial) : isKeyMaterial(value)
    case 'version':
      return VERSIONS.includes(value)
    case 'string':
    case 'boolean':
    case 'function':
      return typeof value === kind
  }
}

/** Whether this is text, bytes, or an object with one of them as `pem` or `buf`, and with a passphrase of its own. */
function isKeyMaterial(value: unknown): boolean {
  if (typeof value === 'string' || isBytes(value)) return true
  if (typeof value !== 'object' || value === null || !('pem' in value || 'buf' in value)) return false
  if ('passphrase' in value && !['string', 'undefined'].includes(typeof value.passphrase)) return false
  return isKeyMaterial('pem' in value ? value.pem : value.buf)
}

const isAddress = (host: string) => host.includes(':') || /^[\d.]+$/.test(host)
