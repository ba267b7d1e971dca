// ACLs as text: `scheme:id:perms`, more of them after commas, as zkCli reads them (AclParser); and ids of the digest
// scheme.
import { Perms } from './constants.ts'
import { plain } from './bytes.ts'
import type { ACL } from './records/data.ts'

/** The letters of the bits of Perms, from the lowest on. */
const LETTERS = 'rwcda'
// Colons in the id are its own, but the last one is not.
const ENTRY = /^([^\s:]+):(.*):([^:]*)$/s
const SCHEME = /^[^\s:,]+$/

/**
 * `world:anyone:r,digest:user:BASE64:cdrwa`. Each entry must have all three parts, and the perms must be letters of
 * `cdrwa`; where Java leaves such an entry or letter out and goes on, this throws a `TypeError` that says what is wrong
 * with it. An id cannot hold a comma.
 */
export function parseACL(text: string): (ACL & { readonly id: { readonly scheme: string; readonly id: string } })[] {
  return text.split(',').map((untrimmed) => {
    const entry = untrimmed.trim()
    const refuse = (reason: string) => new TypeError(`ACL ${JSON.stringify(text)}: ${JSON.stringify(entry)} ${reason}`)
    const match = ENTRY.exec(entry)
    if (match === null) throw refuse('must be "scheme:id:perms", as in "world:anyone:cdrwa"')
    const [, scheme, id, letters] = match as unknown as [string, string, string, string]
    let perms = 0
    for (const letter of letters) {
      const bit = LETTERS.indexOf(letter)
      if (bit === -1) throw refuse(`has ${JSON.stringify(letter)}, which is none of "cdrwa"`)
      perms |= 1 << bit
    }
    return { perms, id: { scheme, id } }
  })
}

/** The text that `parseACL` reads. A `TypeError` for what has none: a comma in the id, perms beyond `cdrwa`. (Of no entries it makes '', which `parseACL` refuses.) */
export function formatACL(acl: readonly ACL[]): string {
  return acl.map(formatEntry).join(',')
}

function formatEntry({ perms, id: { scheme, id } }: ACL): string {
  if (!SCHEME.test(scheme ?? '') || (id ?? ',').includes(',') || (perms & Perms.ALL) !== perms) {
    throw new TypeError(`no text stands for the ACL ${JSON.stringify({ perms, scheme, id })}`)
  }
  // In the order in which Java prints them (ZKUtil.getPermString).
  const letters = 'cdrwa'.split('').filter((letter) => (perms >> LETTERS.indexOf(letter)) & 1)
  return `${scheme}:${id}:${letters.join('')}`
}

/**
 * The id of `user:password` in the digest scheme, `user:BASE64(SHA1(user:password))`: for an ACL, while the auth data
 * of the scheme is `user:password` itself (DigestAuthenticationProvider.generateDigest). SHA-1 comes from outside, as
 * in `generateDigest('user:password', (bytes) => createHash('sha1').update(bytes).digest())`.
 */
export function generateDigest(userPassword: string, sha1: (bytes: Uint8Array) => Uint8Array): string {
  const digest = plain(sha1(new TextEncoder().encode(userPassword)))
  return `${userPassword.split(':', 1)[0]}:${btoa(String.fromCharCode(...digest))}`
}
