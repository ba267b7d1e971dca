// The schemes of ids that need a provider (ProviderRegistry): `world`, `auth` and `super` have none.
import type { Release } from './releases.ts'

interface Scheme {
  /** Whether an id was proved with a secret, so `auth` in an ACL stands for it. */
  readonly isAuthenticated: boolean
  /** Whether this text can be the id in an ACL. */
  isValid(id: string, release: Release): boolean
  /** Whether the id in an ACL matches a client with the id `own`. */
  matches(own: string, id: string): boolean
  /** The name in the answer to whoAmI (AuthenticationProvider.getUserName). */
  userName(own: string): string
}

/** user:BASE64(SHA1(user:password)) (DigestAuthenticationProvider) */
const digest: Scheme = {
  isAuthenticated: true,
  isValid: (id) => javaSplit(id).length === 2,
  matches: (own, id) => own === id,
  userName: (own) => own.split(':', 1)[0] ?? '',
}

/** An address. In an ACL a number of leading bits may follow, which must be equal (IPAuthenticationProvider). */
const ip: Scheme = {
  isAuthenticated: false,
  isValid: (id, { acceptsIPv6 }) => (acceptsIPv6 || !id.includes(':')) && parseRange(id) !== undefined,
  matches(own, id) {
    const range = parseRange(id)
    const address = parseAddress(own)
    if (range === undefined || address === undefined || address.length !== range.address.length) return false
    return address.every((byte, index) => {
      const bits = Math.min(8, Math.max(0, range.bits - 8 * index))
      return (byte ^ range.address[index]!) >>> (8 - bits) === 0
    })
  },
  userName: (own) => own,
}

/** A Kerberos name, with or without host and realm (SASLAuthenticationProvider, KerberosName). */
const sasl: Scheme = {
  isAuthenticated: true,
  isValid: (id) => !id.includes('@') || /^[^/@]*(\/[^/@]*)?@[^/@]*$/.test(id),
  matches: (own, id) => own === 'super' || own === id,
  userName: (own) => own,
}

/** The subject of a certificate, as in RFC 2253 (X509AuthenticationProvider). */
const x509: Scheme = {
  isAuthenticated: true,
  isValid: (id) => id === '' || /^[^=,]+=/.test(id),
  matches: (own, id) => own === id,
  userName: (own) => own,
}

export const schemes: ReadonlyMap<string, Scheme> = new Map([
  ['digest', digest],
  ['ip', ip],
  ['sasl', sasl],
  ['x509', x509],
])

/** The schemes that a server has by default. */
export const DEFAULT_SCHEMES: ReadonlySet<string> = new Set(['digest', 'ip'])

/** String.split drops empty parts at the end: `user:` has one part, and `user:digest:` has two. */
function javaSplit(id: string): string[] {
  const parts = id.split(':')
  while (parts.at(-1) === '') parts.pop()
  return parts
}

type Bytes = readonly number[]

function parseRange(id: string): { readonly address: Bytes; readonly bits: number } | undefined {
  const slash = id.indexOf('/')
  const address = parseAddress(slash === -1 ? id : id.slice(0, slash))
  if (address === undefined) return undefined
  const all = address.length * 8
  const bits = slash === -1 ? all : parseInt32(id.slice(slash + 1), all)
  return bits === undefined ? undefined : { address, bits }
}

function parseAddress(text: string): Bytes | undefined {
  return text.includes(':') ? parseIPv6(text) : parseIPv4(text)
}

function parseIPv4(text: string): Bytes | undefined {
  const bytes = text.split('.').map((part) => parseInt32(part, 255))
  return bytes.length === 4 && bytes.every((byte) => byte !== undefined) ? bytes : undefined
}

/** Eight parts of four digits, or fewer with `::` between them (IPAuthenticationProvider.parseV6addr). */
function parseIPv6(text: string): Bytes | undefined {
  const [before = [], after, ...more] = text.split('::').map((half) => (half === '' ? [] : half.split(':')))
  const missing = 8 - before.length - (after?.length ?? 0)
  if (more.length > 0 || (after === undefined ? missing !== 0 : missing <= 0)) return undefined
  const parts = [...before, ...Array<string>(missing).fill('0'), ...(after ?? [])]
  if (!parts.every((part) => /^[\da-f]{1,4}$/i.test(part))) return undefined
  return parts.map((part) => parseInt(part, 16)).flatMap((part) => [part >> 8, part & 0xff])
}

/** Integer.parseInt, for values from 0 to `max`: a sign and leading zeros are allowed. */
function parseInt32(text: string, max: number): number | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const value = Math.abs(Number(text)) * (text.startsWith('-') ? -1 : 1)
  return value >= 0 && value <= max ? Math.abs(value) : undefined
}
