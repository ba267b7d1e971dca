import { ErrorCode, type Id, Perms } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import {
  addAuthInfo,
  allowed,
  authenticate,
  firstAuthInfo,
  fixupACL,
  NEWEST,
  releaseOf,
} from '../../src/database/index.ts'
import { acl, bytes } from './support.ts'

const LOCAL: readonly Id[] = [{ scheme: 'ip', id: '127.0.0.1' }]
// What `DigestAuthenticationProvider user:pass` prints.
const USER = { scheme: 'digest', id: 'user:smGaoVKd/cQkjm7b88GyorAUz20=' }

describe('authenticate', () => {
  test('gives a digest id for user and password, whatever they are', () => {
    expect(authenticate({ scheme: 'digest', auth: bytes('user:pass') }, '::1')).toEqual([USER])
    expect(authenticate({ scheme: 'digest', auth: bytes('nobody') }, '::1')).toEqual([
      { scheme: 'digest', id: expect.stringMatching(/^nobody:/) },
    ])
  })

  test('gives the super id, and the digest one, for the super digest only', () => {
    const packet = { scheme: 'digest', auth: bytes('user:pass') }
    expect(authenticate(packet, '::1', USER.id)).toEqual([{ scheme: 'super', id: '' }, USER])
    expect(authenticate(packet, '::1', 'super:other')).toEqual([USER])
  })

  test('gives the address for ip, whatever is sent with it', () => {
    expect(authenticate({ scheme: 'ip', auth: bytes('10.0.0.1') }, '127.0.0.1')).toEqual(LOCAL)
    expect(firstAuthInfo('127.0.0.1')).toEqual(LOCAL)
  })

  test.each(['world', 'auth', 'super', 'sasl', 'DIGEST', '', null])('refuses the scheme %s', (scheme) => {
    expect(authenticate({ scheme, auth: bytes('user:pass') }, '::1')).toBeUndefined()
  })
})

describe('addAuthInfo', () => {
  test('keeps the ids as a server does: each once, in the order of its table', () => {
    const added = [USER, { scheme: 'digest', id: 'bob:abc=' }, { scheme: 'super', id: '' }, USER]
    const ids = added.reduce<readonly Id[]>((ids, id) => addAuthInfo(ids, [id], NEWEST), LOCAL)
    expect(ids.map(({ scheme, id }) => `${scheme} ${id}`)).toEqual([
      'super ',
      'ip 127.0.0.1',
      `digest ${USER.id}`,
      'digest bob:abc=',
    ])
  })

  test('finds room for many', () => {
    const many = Array.from({ length: 30 }, (_, i) => ({ scheme: 'digest', id: `u${i}:x` }))
    expect(addAuthInfo(LOCAL, many, NEWEST)).toHaveLength(31)
  })
})

describe('allowed', () => {
  test('an empty ACL permits everything to every session', () => {
    expect(allowed([], Perms.ALL, [])).toBe(true)
  })

  test('a scheme without a provider matches no session', () => {
    expect(allowed([acl(Perms.ALL, 'kerberos', 'bob')], Perms.READ, [{ scheme: 'kerberos', id: 'bob' }])).toBe(false)
  })

  test.each([
    ['127.0.0.1', true],
    ['127.0.0.2', false],
    ['127.0.0.0/8', true],
    ['127.255.255.255/8', true],
    ['128.0.0.0/8', false],
    ['127.0.0.3/30', true],
    ['127.0.0.3/31', false],
    ['10.0.0.0/0', true],
    ['127.0.0.1/32', true],
  ])('the address 127.0.0.1 and the ACL ip:%s: %s', (id, expected) => {
    expect(allowed([acl(Perms.READ, 'ip', id)], Perms.READ, LOCAL)).toBe(expected)
  })

  test.each([
    ['::1', true],
    ['0:0:0:0:0:0:0:1', true],
    ['::2', false],
    ['::2/126', true],
    ['8000::/1', false],
    ['::/0', true],
    ['0.0.0.0/0', false],
  ])('the address ::1 and the ACL ip:%s: %s', (id, expected) => {
    expect(allowed([acl(Perms.READ, 'ip', id)], Perms.READ, firstAuthInfo('::1'))).toBe(expected)
  })
})

describe('fixupACL', () => {
  const fixed = (...args: Parameters<typeof acl>) => fixupACL([acl(...args)], LOCAL, { release: NEWEST })

  test.each([
    ['world', 'anyone'],
    ['digest', 'user:hash'],
    ['digest', ':hash'],
    ['digest', 'user:hash:::'],
    ['ip', '10.0.0.1'],
    ['ip', '10.0.0.1/0'],
    ['ip', '+10.00.-0.1/+32'],
    ['ip', '::1'],
    ['ip', 'fe80::1:2/64'],
    ['ip', '1:2:3:4:5:6:7:8/128'],
  ])('takes %s:%s', (scheme, id) => {
    expect(fixed(1, scheme, id)).toEqual([acl(1, scheme, id)])
  })

  test.each([
    ['ip', '10.0.0.-1'],
    ['ip', '10.0.0.'],
    ['ip', '10.0.0.1/8/8'],
    ['ip', '1:2:3:4:5:6:7'],
    ['ip', '1:2:3:4::5:6:7:8'],
    ['ip', '::1::'],
    ['ip', '::12345'],
    ['ip', '::1/129'],
    ['sasl', null],
  ])('refuses %s:%s', (scheme, id) => {
    expect(fixed(1, scheme, id)).toBe(ErrorCode.InvalidACL)
  })

  test('takes addresses of version 6 from 3.9.4 on only', () => {
    const of = (release: string) => fixupACL([acl(1, 'ip', '::1')], LOCAL, { release: releaseOf(release)! })
    expect([of('3.9.3'), of('3.9.4')]).toEqual([ErrorCode.InvalidACL, [acl(1, 'ip', '::1')]])
  })

  test.each(['world', 'digest', 'ip'])('fails at %s with a null id', (scheme) => {
    expect(fixed(1, scheme, null)).toBe(ErrorCode.MarshallingError)
  })

  test('fails at null where it must be compared with an entry before it that has the same perms', () => {
    const bad = (...entries: Parameters<typeof acl>[]) =>
      fixupACL(
        entries.map((entry) => acl(...entry)),
        [],
        { release: NEWEST },
      )
    expect(bad([1, 'digest', 'x'], [1, null, 'y'])).toBe(ErrorCode.MarshallingError)
    expect(bad([1, 'digest', 'x'], [1, 'digest', null])).toBe(ErrorCode.MarshallingError)
    expect(bad([1, 'digest', 'x'], [2, null, 'y'])).toBe(ErrorCode.InvalidACL)
    expect(bad([1, null, 'x'], [1, 'digest', 'y'])).toBe(ErrorCode.InvalidACL)
  })

  test('refuses auth of a session that proved no identity: an address is no proof', () => {
    expect(fixupACL([acl(1, 'auth', '')], LOCAL, { release: NEWEST })).toBe(ErrorCode.InvalidACL)
    expect(fixupACL([acl(1, 'auth', '')], [{ scheme: 'super', id: '' }], { release: NEWEST })).toBe(
      ErrorCode.InvalidACL,
    )
  })
})
