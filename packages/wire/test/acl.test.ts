import { createHash } from 'node:crypto'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type ACL, formatACL, generateDigest, parseACL, Perms } from '../src/index.ts'
import { lines, rows } from './vectors/lines.ts'

const acl = (scheme: string | null, id: string | null, perms: number): ACL => ({ perms, id: { scheme, id } })

describe('parseACL', () => {
  test.each<[string, ACL[]]>([
    ['world:anyone:cdrwa', [acl('world', 'anyone', Perms.ALL)]],
    ['world:anyone:r', [acl('world', 'anyone', Perms.READ)]],
    ['world:anyone:wr', [acl('world', 'anyone', Perms.READ | Perms.WRITE)]],
    ['world:anyone:rr', [acl('world', 'anyone', Perms.READ)]],
    ['world:anyone:', [acl('world', 'anyone', 0)]],
    ['auth::cdrwa', [acl('auth', '', Perms.ALL)]],
    ['ip:10.0.0.0/8:rw,world:anyone:r', [acl('ip', '10.0.0.0/8', 3), acl('world', 'anyone', 1)]],
    [' world:anyone:r , auth::a ', [acl('world', 'anyone', 1), acl('auth', '', 16)]],
    ['digest:user:smGaoVKd/cQkjm7b88GyorAUz20=:cd', [acl('digest', 'user:smGaoVKd/cQkjm7b88GyorAUz20=', 12)]],
    ['ip:2001:db8::1:r', [acl('ip', '2001:db8::1', 1)]],
    ['sasl:me@EXAMPLE.ORG:a', [acl('sasl', 'me@EXAMPLE.ORG', 16)]],
  ])('parseACL reads %j', (text, value) => {
    expect(parseACL(text)).toEqual(value)
  })

  // Java says these on stderr and goes on without the entry or the letter.
  test.each([
    ['', 'ACL: entry 1 must be "scheme:id:perms", as in "world:anyone:cdrwa"'],
    ['world', 'ACL: entry 1 must be "scheme:id:perms", as in "world:anyone:cdrwa"'],
    ['world:anyone', 'ACL: entry 1 must be "scheme:id:perms", as in "world:anyone:cdrwa"'],
    [':anyone:r', 'ACL: entry 1 must be "scheme:id:perms", as in "world:anyone:cdrwa"'],
    ['world:anyone:r,', 'ACL: entry 2 must be "scheme:id:perms", as in "world:anyone:cdrwa"'],
    ['wor ld:anyone:r', 'ACL: entry 1 must be "scheme:id:perms", as in "world:anyone:cdrwa"'],
    ['x509:CN=a,OU=b:r', 'ACL: entry 1 must be "scheme:id:perms", as in "world:anyone:cdrwa"'],
    ['world:anyone:rx', 'ACL: entry 1 has perms other than "cdrwa"'],
    ['world:anyone:R', 'ACL: entry 1 has perms other than "cdrwa"'],
  ])('parseACL refuses %j', (text, message) => {
    expect(() => parseACL(text)).toThrow(new TypeError(message))
  })
})

describe('formatACL', () => {
  test('formatACL writes the perms in the order in which zkCli prints them', () => {
    expect(formatACL([acl('world', 'anyone', Perms.ALL), acl('ip', '::1', 3), acl('auth', '', 0)])).toBe(
      'world:anyone:cdrwa,ip:::1:rw,auth::',
    )
  })

  test('formatACL writes what parseACL reads', () => {
    const scheme = fc.stringMatching(/^[^\s,:]+$/)
    const id = fc.string({ unit: 'binary' }).filter((id) => !id.includes(','))
    const acls = fc.array(
      fc.record(
        { perms: fc.integer({ min: 0, max: 31 }), id: fc.record({ scheme, id }, { noNullPrototype: true }) },
        { noNullPrototype: true },
      ),
      { minLength: 1 },
    )
    fc.assert(
      fc.property(acls, (acls) => {
        expect(parseACL(formatACL(acls))).toEqual(acls)
      }),
    )
  })

  test.each([
    acl(null, 'anyone', 1),
    acl('', 'anyone', 1),
    acl('a:b', 'anyone', 1),
    acl('a,b', 'anyone', 1),
    acl('a b', 'anyone', 1),
    acl('world', null, 1),
    acl('x509', 'CN=a,world:anyone', 1),
    acl('world', 'anyone', 32),
    acl('world', 'anyone', -1),
    acl('world', 'anyone', 2 ** 32 + 1),
    acl('world', 'anyone', 1.5),
    acl('world', 'anyone', NaN),
    acl('world', 'anyone', '3' as unknown as number),
  ])('formatACL refuses $id.scheme:$id.id:$perms, which no text can say', (acl) => {
    expect(() => formatACL([acl])).toThrow(TypeError)
    expect(() => formatACL([acl])).toThrow('entry 1 of the ACL has no text form')
  })
})

describe('generateDigest', () => {
  const sha1 = (bytes: Uint8Array) => createHash('sha1').update(bytes).digest()

  test.each(rows(lines('digest'), (line) => JSON.stringify(line.in).slice(0, 40)))(
    'generateDigest makes what Java makes of %s',
    (_title, { in: userPassword, out }) => {
      expect(generateDigest(userPassword, sha1)).toBe(out)
    },
  )

  test('generateDigest refuses a SHA-1 in hex, which is no bytes', () => {
    const hex = (bytes: Uint8Array) => createHash('sha1').update(bytes).digest('hex') as unknown as Uint8Array
    expect(() => generateDigest('user:password', hex)).toThrow(new TypeError('buffer must be a Uint8Array, not string'))
  })

  test('the vectors hold a password with a colon, one that is not ASCII and a long one', () => {
    const given = lines('digest').map((line) => line.in)
    expect(given).toEqual(expect.arrayContaining(['u:p:q', 'ü:ß']))
    expect(Math.max(...given.map(({ length }) => length))).toBeGreaterThan(128)
  })
})
