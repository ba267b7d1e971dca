// Where and how an ensemble is reached: the options of the listener, and addresses as it writes them.
import { checkKeys, show } from './connection/fault.ts'
import { checkOptions, ENSEMBLE_OPTIONS, type EnsembleOptions, integer } from './options.ts'

/** PEM text, or the bytes of it. */
type Pem = string | Uint8Array

/** TLS for the clients of an ensemble: some of what `createServer` of `node:tls` takes. */
export interface TestTlsOptions {
  /** The certificate of the members, and those between it and its authority. */
  cert?: Pem | readonly Pem[] | undefined
  /** The key of `cert`. */
  key?: Pem | readonly Pem[] | undefined
  /** `cert` and `key` in one, as PKCS #12. */
  pfx?: Uint8Array | undefined
  /** Of an encrypted `key` or `pfx`. */
  passphrase?: string | undefined
  /** The authorities that may have signed the certificates of clients. */
  ca?: Pem | readonly Pem[] | undefined
  /** Ask clients for a certificate: its subject is what ACLs of the scheme `x509` see. @default false */
  requestCert?: boolean | undefined
  /** Refuse clients without a certificate that `ca` has signed, where one is asked for. @default true */
  rejectUnauthorized?: boolean | undefined
  /** @default that of the runtime */
  minVersion?: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3' | undefined
  /** @default that of the runtime */
  maxVersion?: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3' | undefined
  /** In OpenSSL's form. @default those of the runtime */
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

/** Where an ensemble is reached, besides what it is made of. */
export interface ListenOptions extends EnsembleOptions {
  /** Where to listen. @default '127.0.0.1' */
  host?: string | undefined
  /** One for each member; 0 for any that is free. @default all 0 */
  ports?: readonly number[] | undefined
  /** Speak TLS with clients, at every port. @default plain TCP */
  tls?: TestTlsOptions | undefined
}

export const LOCALHOST = '127.0.0.1'

/** Members that cannot agree in this time, in ms, or in the ticks they may take for it, never will. */
const LEAST_START_TIMEOUT = 30_000

/** Throws a `TypeError` that names the option and what would be right. */
export function checkListening(all: ListenOptions) {
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

/** An address of version 4 as such. */
export function plain(address = ''): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
}

export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}

/** The subject of a certificate, a line for each part of it, as Java writes it (RFC 2253): the innermost part first. */
export function distinguishedName(subject: string | undefined): string | undefined {
  return subject?.split('\n').reverse().join(',')
}

/** Waits until something is so. */
export interface Waiter {
  readonly isDone: () => boolean
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export const closedError = () => new Error('the ensemble is closed')
