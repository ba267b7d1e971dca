// ACLs as text, and ids of the digest scheme. The text has the form of zkCli (AclParser): `scheme:id:perms`, with a comma
// between entries.
import { Perms } from './constants.ts'
import { asUint8Array } from './bytes.ts'
import type { ACL } from './records/data.ts'

/** One letter for each bit of Perms. The lowest bit is first. */
const LETTERS = 'rwcda'
// The id may hold colons. The last colon ends it.
const ENTRY = /^([^\s:]+):(.*):([^:]*)$/s
const SCHEME = /^[^\s:,]+$/

/**
 * Reads `world:anyone:r,digest:user:BASE64:cdrwa`. Each entry must have all three parts, and the perms must be letters of
 * `cdrwa`. Otherwise it throws a `TypeError` that says what is wrong. (Java leaves out such an entry or letter.) An id cannot
 * hold a comma.
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

/**
 * Writes the text that `parseACL` reads. Throws a `TypeError` for an entry without such a text: a comma in the id, or perms
 * beyond `cdrwa`. For an empty list it returns '', which `parseACL` refuses.
 */
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
 * The id of the digest scheme in an ACL: `user:BASE64(SHA1(user:password))`
 * (DigestAuthenticationProvider.generateDigest). For `addAuth` give `user:password` itself. The caller provides SHA-1:
 * `generateDigest('user:password', (bytes) => createHash('sha1').update(bytes).digest())`.
 */
export function generateDigest(userPassword: string, sha1: (bytes: Uint8Array) => Uint8Array): string {
  const digest = asUint8Array(sha1(new TextEncoder().encode(userPassword)))
  return `${userPassword.split(':', 1)[0]}:${btoa(String.fromCharCode(...digest))}`
}
