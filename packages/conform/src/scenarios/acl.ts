import { createHash } from 'node:crypto'
import { type ACL, generateDigest, OpCode, Perms } from '@zk/wire'
import { open, type Session } from '../play/index.ts'
import { group } from './group.ts'

const sha1 = (bytes: Uint8Array): Uint8Array => createHash('sha1').update(bytes).digest()
const idOf = (user: string): string => generateDigest(user, sha1)
const entry = (perms: number, scheme: string | null, id: string | null): ACL => ({ perms, id: { scheme, id } })
const tom = 'tom:pass'

export const acl = group('ACL', {
  'digest permits sessions with the password': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/a', { data: 'x', acl: [entry(Perms.ALL, 'digest', idOf(tom))] })
    await s.settle()
    await everything(b, '/a')
    await b.auth('digest', 'tom:wrong')
    await everything(b, '/a')
    await b.auth('digest', tom)
    await everything(b, '/a')
    await s.settle()
    await everything(a, '/a')
    await a.close()
    await b.close()
  },

  'each permission allows its own operations': {
    needs: ['superuser'],
    play: async (s) => {
      const a = await s.open()
      for (const perms of [0, Perms.READ, Perms.WRITE, Perms.CREATE, Perms.DELETE, Perms.ADMIN, 32, 64 + 31, -1]) {
        const path = `/p${perms}`
        await a.create(path, { data: 'x', acl: [entry(perms, 'world', 'anyone')] })
        await everything(a, path)
        await a.create(`${path}/child`)
        await a.delete(`${path}/child`)
        await a.delete(path)
      }
      await a.close()
    },
  },

  'auth in an ACL means all identities of the session': async (s) => {
    const a = await s.open()
    await a.create('/early', { acl: [entry(Perms.ALL, 'auth', '')] })
    await a.auth('digest', tom)
    await a.auth('digest', 'jerry:pass')
    await a.create('/a', { acl: [entry(Perms.ALL, 'auth', '')] })
    await a.getACL('/a')
    await a.setACL('/a', [entry(Perms.READ, 'auth', 'ignored'), entry(Perms.ADMIN, 'world', 'anyone')])
    await a.getACL('/a')
    await a.create('/twice', { acl: [entry(Perms.ALL, 'auth', ''), entry(Perms.ALL, 'auth', '')] })
    await a.getACL('/twice')
    await a.auth('digest', tom)
    await a.create('/again', { acl: [entry(Perms.ALL, 'auth', null)] })
    await a.getACL('/again')
    await a.close()
  },

  'auth replies, and closes the connection when it fails': async (s) => {
    const a = await s.open()
    await a.auth('digest', tom)
    await a.auth('digest', 'no-colon')
    const b = await s.open({ at: 'follower' })
    await b.auth('world', 'anyone')
    const c = await s.open()
    await c.auth('ip', '1.2.3.4')
    await c.auth('unknown-scheme', 'x')
    const d = await s.open()
    await d.auth(null, 'x')
    const e = await s.open()
    await e.auth('digest', null)
    const f = await s.open()
    await f.auth('digest', '')
    const g = await s.open()
    await g.auth('', 'x')
    const h = await s.open()
    await h.auth('auth', '')
    await s.settle()
  },

  'a failed auth does not change the session': async (s) => {
    const a = await s.open()
    await a.create('/e', { flags: 1 })
    await a.auth('unknown-scheme', 'x')
    await a.connection.closed
    const again = await s.resume(a)
    await again.exists('/e')
    await again.close()
  },

  'auth belongs to the connection, not to the session': async (s) => {
    const a = await s.open()
    await a.auth('digest', tom)
    await a.create('/a', { acl: [entry(Perms.ALL, 'auth', '')] })
    await a.getData('/a')
    await a.drop()
    const again = await s.resume(a)
    await again.getData('/a')
    await again.auth('digest', tom)
    await again.getData('/a')
    await again.close()
  },

  'auth applies to requests pipelined behind it': async (s) => {
    const a = await s.open()
    await Promise.all([
      a.auth('digest', tom),
      a.create('/a', { acl: [entry(Perms.ALL, 'auth', '')] }),
      a.getACL('/a'),
      a.setData('/a', 'x'),
    ])
    await a.close()
  },

  'ip permits sessions from that address': async (s) => {
    const a = await s.open()
    const own = s.clientAddress
    const ids = [own, `${own}/32`, `${own}/8`, '10.99.0.0/16', `${own}/0`, '203.0.113.7']
    for (const [i, id] of ids.entries()) {
      await a.create(`/ip${i}`, { data: 'x', acl: [entry(Perms.READ, 'ip', id)] })
      await a.getData(`/ip${i}`)
    }
    await a.close()
  },

  'an invalid ACL is refused, on creation and later': async (s) => {
    const a = await s.open()
    await a.auth('digest', tom)
    await a.create('/a')
    const bad: (readonly ACL[] | null)[] = [
      null,
      [],
      [entry(Perms.ALL, 'world', 'someone')],
      [entry(Perms.ALL, 'world', '')],
      [entry(Perms.ALL, 'world', null)],
      [entry(Perms.ALL, '', '')],
      [entry(Perms.ALL, null, null)],
      [entry(Perms.ALL, 'unknown-scheme', 'x')],
      [entry(Perms.ALL, 'digest', '')],
      [entry(Perms.ALL, 'digest', 'tom')],
      [entry(Perms.ALL, 'digest', 'tom:')],
      [entry(Perms.ALL, 'digest', 'tom:a:b')],
      [entry(Perms.ALL, 'digest', ':')],
      [entry(Perms.ALL, 'ip', '')],
      [entry(Perms.ALL, 'ip', 'localhost')],
      [entry(Perms.ALL, 'ip', '1.2.3')],
      [entry(Perms.ALL, 'ip', '1.2.3.4.5')],
      [entry(Perms.ALL, 'ip', '1.2.3.256')],
      [entry(Perms.ALL, 'ip', '1.2.3.4/')],
      [entry(Perms.ALL, 'ip', '1.2.3.4/33')],
      [entry(Perms.ALL, 'ip', '1.2.3.4/-1')],
      [entry(Perms.ALL, 'ip', '1.2.3.4/a')],
      [entry(Perms.ALL, 'world', 'anyone'), entry(Perms.ALL, 'world', 'someone')],
      [entry(Perms.READ, 'super', 'x')],
      [entry(Perms.READ, 'sasl', 'x')],
      [entry(Perms.READ, 'x509', 'CN=x')],
    ]
    for (const [i, acl] of bad.entries()) {
      await a.create(`/n${i}`, { acl })
      await a.setACL('/a', acl)
    }
    await a.getACL('/a')
    await a.close()
  },

  'an ACL with an IPv6 address': async (s) => {
    const a = await s.open()
    await a.create('/n', { acl: [entry(Perms.ALL, 'ip', '::1')] })
    await a.close()
  },

  'equal ACL entries are kept once': async (s) => {
    const a = await s.open()
    const [all, read] = [entry(Perms.ALL, 'world', 'anyone'), entry(Perms.READ, 'world', 'anyone')]
    for (const [i, acl] of [
      [all, all],
      [read, all, read],
      [all, read],
    ].entries()) {
      await a.create(`/${i}`, { acl })
      await a.getACL(`/${i}`)
    }
    await a.close()
  },

  'setACL has its own version counter': async (s) => {
    const { a, b } = await s.pair()
    await a.create('/a')
    await a.setACL('/a', open)
    await a.setACL('/a', open, 0)
    await a.setACL('/a', open, 1)
    await a.setACL('/a', open, -2)
    await a.setData('/a', 'x')
    await a.getACL('/a')
    await s.settle()
    await b.exists('/a')
    await b.getACL('/a')
    await b.setACL('/a', [entry(Perms.READ, 'world', 'anyone')], 2)
    await b.setACL('/a', open)
    await b.getACL('/a')
    await a.close()
    await b.close()
  },

  'setACL triggers no watch': async (s) => {
    const a = await s.open()
    await a.create('/a')
    await a.getData('/a', true)
    await a.getChildren('/a', true)
    await a.setACL('/a', open)
    await a.exists('/a')
    await a.close()
  },

  'getACL hides digests from sessions that may neither read nor administer': async (s) => {
    const a = await s.open()
    const secret = entry(Perms.ALL, 'digest', idOf(tom))
    await a.create('/secret', { acl: [secret] })
    await a.create('/readable', { acl: [secret, entry(Perms.READ, 'world', 'anyone')] })
    await a.create('/administered', { acl: [secret, entry(Perms.ADMIN, 'world', 'anyone')] })
    await a.create('/writable', { acl: [secret, entry(Perms.WRITE, 'world', 'anyone')] })
    for (const path of ['/secret', '/readable', '/administered', '/writable']) await a.getACL(path)
    await a.auth('digest', tom)
    for (const path of ['/secret', '/readable', '/administered', '/writable']) await a.getACL(path)
    await a.close()
  },

  'super has all permissions': {
    needs: ['superuser'],
    play: async (s) => {
      const a = await s.open()
      await a.create('/a', { acl: [entry(0, 'digest', idOf(tom))] })
      await everything(a, '/a')
      await a.auth('digest', 'super:wrong')
      await everything(a, '/a')
      await a.auth('digest', s.superUser)
      await everything(a, '/a')
      await a.create('/mine', { acl: [entry(Perms.ALL, 'auth', '')] })
      await a.getACL('/mine')
      await a.delete('/a')
      await a.close()
    },
  },

  'an ACL applies to its node, not to the ones below': async (s) => {
    const a = await s.open()
    await a.create('/a', { acl: [entry(Perms.CREATE | Perms.DELETE, 'world', 'anyone')] })
    await a.create('/a/b', { data: 'x' })
    await a.getData('/a/b')
    await a.getData('/a')
    await a.setData('/a/b', 'y')
    await a.delete('/a/b')
    await a.getChildren('/a')
    await a.close()
  },

  'delete needs the permission on the parent, not on the node': async (s) => {
    const a = await s.open()
    await a.create('/a')
    await a.create('/a/b', { acl: [entry(Perms.READ, 'world', 'anyone')] })
    await a.delete('/a/b')
    await a.create('/a/c')
    await a.setACL('/a', [entry(Perms.ALL & ~Perms.DELETE, 'world', 'anyone')])
    await a.delete('/a/c')
    await a.close()
  },
})

/** Each operation that a permission may forbid. */
async function everything(session: Session, path: string): Promise<void> {
  await session.exists(path)
  await session.getData(path)
  await session.getChildren2(path)
  await session.getACL(path)
  await session.setData(path, 'y')
  await session.multi({ type: OpCode.check, request: { path, version: -1 } })
}
