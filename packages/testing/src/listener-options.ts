// The options of the listener, and addresses as text.
import { checkKeys, show } from './connection/fault.ts'
import { checkOptions, ENSEMBLE_OPTIONS, type EnsembleOptions, integer } from './options.ts'

/** PEM text, or the bytes of it. */
type Pem = string | Uint8Array

/** TLS for the clients of an ensemble: some of the options of `createServer` in `node:tls`. */
export interface TestTlsOptions {
  /** The certificate of the members, with its intermediate certificates. */
  cert?: Pem | readonly Pem[] | undefined
  /** The private key of `cert`. */
  key?: Pem | readonly Pem[] | undefined
  /** `cert` and `key` together, as PKCS #12. */
  pfx?: Uint8Array | undefined
  /** The passphrase of an encrypted `key` or `pfx`. */
  passphrase?: string | undefined
  /** The authorities that may have signed the certificates of clients. */
  ca?: Pem | readonly Pem[] | undefined
  /** Ask clients for a certificate. Its subject is the identity in ACLs of the scheme `x509`. @default false */
  requestCert?: boolean | undefined
  /** Refuse clients that have no certificate signed by `ca`. Needs `requestCert`. @default true */
  rejectUnauthorized?: boolean | undefined
  /** The lowest version of TLS. @default the runtime's */
  minVersion?: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3' | undefined
  /** The highest version of TLS. @default the runtime's */
  maxVersion?: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3' | undefined
  /** The ciphers, in OpenSSL's form. @default the runtime's */
  ciphers?: string | undefined
}

const TLS_OPTIONS = [
  'cert',
  'key',
  'pfx',
  'passphrase',
  'ca',
  'requestCert',
  'rejectUnauthorized',
  'minVersion',
  'maxVersion',
  'ciphers',
] as const satisfies readonly (keyof TestTlsOptions)[]

/** The options of an ensemble that listens. */
export interface ListenOptions extends EnsembleOptions {
  /** The address to listen on. @default '127.0.0.1' */
  host?: string | undefined
  /** One port for each member; 0 for any free one. @default all 0 */
  ports?: readonly number[] | undefined
  /** Speak TLS with clients, on every port. @default plain TCP */
  tls?: TestTlsOptions | undefined
}

export const LOCALHOST = '127.0.0.1'

/** The start timeout is at least this long, in ms. If ticks are long, it is longer. */
const LEAST_START_TIMEOUT = 30_000

/**
 * Checks `host`, `ports`, `tls` and the names of all options. Returns all options, and the default of `host`. Throws a
 * `TypeError` that names the wrong option and says what would be right.
 */
export function checkListenOptions(all: ListenOptions) {
  checkKeys('an ensemble', all, [...ENSEMBLE_OPTIONS, 'host', 'ports', 'tls'])
  const { host = LOCALHOST, ports, tls, ...options } = all
  if (typeof host !== 'string' || host.trim() === '') {
    throw new TypeError(`host must be a name or an address, such as '${LOCALHOST}', not ${show(host)}`)
  }
  if (ports !== undefined && !Array.isArray(ports)) throw new TypeError(`ports must be a list, not ${show(ports)}`)
  if (tls !== undefined) checkKeys('tls', tls, TLS_OPTIONS)
  return { host, ports, tls, ...options }
}

export function checkPorts(ports: readonly number[] | undefined, members: number): void {
  if (ports !== undefined && ports.length !== members) {
    throw new RangeError(`ports must be as many as members: ${members}, not ${ports.length}`)
  }
  for (const port of ports ?? []) integer('ports', port, 0, 65_535)
}

export function startTimeout({ host, ports, tls, ...options }: ListenOptions): number {
  const { tickTime, initLimit, syncLimit } = checkOptions(options)
  return Math.max(LEAST_START_TIMEOUT, (initLimit + syncLimit) * tickTime)
}

/** Turns an IPv4 address that is mapped into IPv6 back into IPv4. */
export function plain(address = ''): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
}

export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** Turns the subject of a certificate, one line for each part, into Java's form (RFC 2253): the last part comes first. */
export function distinguishedName(subject: string | undefined): string | undefined {
  return subject?.split('\n').reverse().join(',')
}
