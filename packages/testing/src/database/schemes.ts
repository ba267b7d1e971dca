// The schemes of ids that need a provider (ProviderRegistry): `world`, `auth` and `super` have none.

interface Scheme {
  /** Whether an id was proved with a secret, so `auth` in an ACL stands for it. */
  readonly isAuthenticated: boolean
  /** Whether this text can be the id in an ACL. */
  isValid(id: string): boolean
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

/** An IPv4 address. In an ACL a number of leading bits may follow, which must be equal (IPAuthenticationProvider). */
const ip: Scheme = {
  isAuthenticated: false,
  isValid: (id) => parseRange(id) !== undefined,
  matches(own, id) {
    const range = parseRange(id)
    const address = parseAddress(own)
    if (range === undefined || address === undefined) return false
    return range.bits === 0 || (address ^ range.address) >>> (32 - range.bits) === 0
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

function parseRange(id: string): { readonly address: number; readonly bits: number } | undefined {
  const slash = id.indexOf('/')
  const address = parseAddress(slash === -1 ? id : id.slice(0, slash))
  const bits = slash === -1 ? 32 : parseInt32(id.slice(slash + 1), 32)
  return address === undefined || bits === undefined ? undefined : { address, bits }
}

/** ZooKeeper 3.8 reads only IPv4 addresses (IPAuthenticationProvider.addr2Bytes). No ACL matches other clients. */
function parseAddress(text: string): number | undefined {
  const parts = text.split('.')
  if (parts.length !== 4) return undefined
  let address = 0
  for (const part of parts) {
    const byte = parseInt32(part, 255)
    if (byte === undefined) return undefined
    address = (address << 8) | byte
  }
  return address
}

/** Integer.parseInt, for values from 0 to `max`: a sign and leading zeros are allowed. */
function parseInt32(text: string, max: number): number | undefined {
  if (!/^[+-]?\d+$/.test(text)) return undefined
  const value = Math.abs(Number(text)) * (text.startsWith('-') ? -1 : 1)
  return value >= 0 && value <= max ? Math.abs(value) : undefined
}
