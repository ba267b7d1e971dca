import { CreateMode, ErrorCode, Perms } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { sequenceSuffix } from '../../src/database/prepare-node.ts'
import { acl, Client, creating, OPEN, operator, Server } from './support.ts'

const client = new Client(0x10n)
const create = (path: string | null, flags = 0, entries = OPEN as Parameters<typeof creating>[2]) =>
  client.request('create', creating(path, flags, entries))

test('create with the flags of a container makes a persistent node', () => {
  const server = new Server()
  server.ask(create('/c', CreateMode.CONTAINER))
  expect(server.tree.get('/c')?.isContainer).toBe(false)
})

test('createContainer makes a container whatever the flags say', () => {
  const server = new Server()
  server.ask(client.request('createContainer', creating('/c-', CreateMode.EPHEMERAL_SEQUENTIAL)))
  expect(server.tree.get('/c-0000000000')?.isContainer).toBe(true)
})

describe('create is refused, in this order:', () => {
  const refused: readonly [why: string, path: string | null, flags: number, acl: typeof OPEN | null, err: number][] = [
    ['flags that mean nothing, before a null path', null, 7, OPEN, ErrorCode.BadArguments],
    ['a TTL, before a null path', null, CreateMode.PERSISTENT_WITH_TTL, OPEN, ErrorCode.Unimplemented],
    ['a null path, before the ACL', null, 0, [], ErrorCode.MarshallingError],
    ['no slash, before the ACL', 'a', 0, [], ErrorCode.BadArguments],
    ['an empty path, before the ACL', '', 0, [], ErrorCode.BadArguments],
    ['a NUL, before the ACL', '/a\0', 0, [], ErrorCode.BadArguments],
    ['no parent, before the rest of the path', '/none/../a', 0, OPEN, ErrorCode.NoNode],
    ['no right, before the rest of the path', '/closed/.', 0, OPEN, ErrorCode.NoAuth],
  ]

  test.each(refused)('%s', (_why, path, flags, entries, err) => {
    const server = new Server().make('/open', '/closed')
    server.ask(operator.request('setACL', { path: '/closed', acl: [acl(Perms.READ, 'world', 'anyone')], version: -1 }))
    server.ask(create('/mine', CreateMode.EPHEMERAL))
    expect(server.err(create(path, flags, entries))).toBe(err)
  })

  test('a TTL for a mode that has none', () => {
    const server = new Server()
    const ttl = (flags: number, ttl: bigint) => client.request('createTTL', { ...creating('/a', flags), ttl })
    expect(server.err(ttl(CreateMode.PERSISTENT, 5n))).toBe(ErrorCode.BadArguments)
    expect(server.err(ttl(CreateMode.PERSISTENT_WITH_TTL, 5n))).toBe(ErrorCode.Unimplemented)
    expect(server.err(ttl(CreateMode.PERSISTENT, -1n))).toBe(ErrorCode.Unimplemented)
  })
})

describe('A counter that is used up', () => {
  const LAST = 2 ** 31 - 1

  function nearTheEnd(sequenceOverflow?: 'stick' | 'wrap') {
    const server = new Server(sequenceOverflow && { sequenceOverflow }).make('/p')
    server.operate({ type: 'presetCounter', path: '/p', counter: LAST - 1 })
    const next = (prefix: string) => {
      const { err, response } = server.do(create(`/p/${prefix}`, CreateMode.PERSISTENT_SEQUENTIAL))
      return err === 0 ? (response as { path: string }).path : err
    }
    return { server, next }
  }

  test('sticks: every further node gets the last number, and only its prefix tells it apart', () => {
    const { next } = nearTheEnd()
    expect(next('a-')).toBe('/p/a-2147483646')
    expect(next('a-')).toBe('/p/a-2147483647')
    expect(next('b-')).toBe('/p/b-2147483647')
    expect(next('a-')).toBe(ErrorCode.NodeExists)
  })

  test('sticks, and pzxid with it', () => {
    const { server, next } = nearTheEnd()
    next('a-')
    const { pzxid } = server.stat('/p')
    next('a-')
    expect(server.stat('/p')).toMatchObject({ pzxid, numChildren: 2 })
  })

  test('sticks, but shows negative numbers while requests are outstanding', () => {
    const { server } = nearTheEnd()
    for (const prefix of 'abcd') server.prepare(create(`/p/${prefix}-`, CreateMode.PERSISTENT_SEQUENTIAL))
    expect(server.commit().map((answer) => answer?.response)).toEqual([
      { path: '/p/a-2147483646' },
      { path: '/p/b-2147483647' },
      { path: '/p/c--2147483648' },
      { path: '/p/d--2147483647' },
    ])
    expect(server.tree.get('/p')?.cversion).toBe(LAST)
  })

  test('wraps to the lowest number in 3.5', () => {
    const { server, next } = nearTheEnd('wrap')
    expect(['a-', 'a-', 'a-', 'a-'].map(next)).toEqual([
      '/p/a-2147483646',
      '/p/a-2147483647',
      '/p/a--2147483648',
      '/p/a--2147483647',
    ])
    expect(server.stat('/p').pzxid).toBe(server.zxid)
  })

  test.each([
    [0, '0000000000'],
    [42, '0000000042'],
    [LAST, '2147483647'],
    [-1, '-000000001'],
    [-(2 ** 31), '-2147483648'],
  ])('writes %i as %s', (counter, text) => {
    expect(sequenceSuffix(counter)).toBe(text)
  })
})
