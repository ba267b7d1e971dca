// ACLs as text, and ids of the digest scheme. The text has the form of zkCli (AclParser): `scheme:id:perms`, with a comma
// between entries.
import { Perms } from './constants.ts'
import { asUint8Array } from './bytes.ts'
import type { ACL } from './records/data.ts'

/** One letter for each bit of Perms. The lowest bit is first. */
const LETTERS = 'rwcda'
// Scheme, id and letters of one entry. The id may contain colons: it ends at the last one.
const ENTRY = /^([^\s:]+):(.*):([^:]*)$/s
const SCHEME = /^[^\s:,]+$/

/**
 * Parses `world:anyone:r,digest:user:BASE64:cdrwa`. Throws a `TypeError` that says what is wrong if an entry does not have
 * all three parts, or if its perms have a letter that is not in `cdrwa`. (Java leaves out such an entry or letter.) An id
 * cannot contain a comma.
 */
export function parseACL(text: string): (ACL & { readonly id: { readonly scheme: string; readonly id: string } })[] {
  return text.split(',').map((untrimmed, index) => {
    const entry = untrimmed.trim()
    // The text may contain a password, or the digest of one, and is not shown.
    const refuse = (reason: string) => new TypeError(`ACL: entry ${index + 1} ${reason}`)
    const match = ENTRY.exec(entry)
    if (match === null) throw refuse('must be "scheme:id:perms", as in "world:anyone:cdrwa"')
    const [, scheme, id, letters] = match as unknown as [string, string, string, string]
    let perms = 0
    for (const letter of letters) {
      const bit = LETTERS.indexOf(letter)
      if (bit === -1) throw refuse('has perms other than "cdrwa"')
      perms |= 1 << bit
    }
    return { perms, id: { scheme, id } }
  })
}

/**
 * Turns an ACL into the text that `parseACL` parses. Throws a `TypeError` if an entry has no such text: if its id contains a
 * comma, or if its perms have bits other than those of `cdrwa`. For an empty list it returns '', which `parseACL` refuses.
 */
export function formatACL(acl: readonly ACL[]): string {
  return acl.map(formatEntry).join(',')
}

function formatEntry({ perms, id: { scheme, id } }: ACL, index: number): string {
  if (!SCHEME.test(scheme ?? '') || (id ?? ',').includes(',') || (perms & Perms.ALL) !== perms) {
    throw new TypeError(`entry ${index + 1} of the ACL has no text form`)
  }
  // In the order in which Java prints them (ZKUtil.getPermString).
  const letters = 'cdrwa'.split('').filter((letter) => (perms >> LETTERS.indexOf(letter)) & 1)
  return `${scheme}:${id}:${letters.join('')}`
}

/**
 * Makes an id of the digest scheme for an ACL: `user:BASE64(SHA1(user:password))`
 * (DigestAuthenticationProvider.generateDigest). The caller provides SHA-1:
 * `generateDigest('user:password', (bytes) => createHash('sha1').update(bytes).digest())`. `addAuth` takes `user:password`
 * itself, not this id.
 *
 * Use ASCII. For other characters the id fits only servers whose JVM has UTF-8 as its charset.
 */
export function generateDigest(userPassword: string, sha1: (bytes: Uint8Array) => Uint8Array): string {
  const digest = asUint8Array(sha1(new TextEncoder().encode(userPassword)))
  return `${userPassword.split(':', 1)[0]}:${btoa(String.fromCharCode(...digest))}`
}
