import { CreateMode, ErrorCode, Perms } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { sequenceSuffix } from '../../src/database/prepare-node.ts'
import { acl, bytes, Client, creating, OPEN, operator, Server } from './support.ts'

const client = new Client(0x10n)
const create = (path: string | null, flags = 0, entries = OPEN as Parameters<typeof creating>[2]) =>
  client.request('create', creating(path, flags, entries))

describe('create', () => {
  test('answers the path, create2 the path and the Stat', () => {
    const server = new Server()
    expect(server.do(create('/a'))).toEqual({ err: 0, response: { path: '/a' } })
    expect(server.do(client.request('create2', { ...creating('/b'), data: bytes('abc') }))).toEqual({
      err: 0,
      response: {
        path: '/b',
        stat: {
          czxid: 2n,
          mzxid: 2n,
          pzxid: 2n,
          ctime: 1_001n,
          mtime: 1_001n,
          version: 0,
          cversion: 0,
          aversion: 0,
          ephemeralOwner: 0n,
          dataLength: 3,
          numChildren: 0,
        },
      },
    })
  })

  test('keeps data that is null apart from data that is empty', () => {
    const server = new Server()
    server.ask(client.request('create', { ...creating('/null'), data: null }))
    server.ask(create('/empty'))
    expect(server.tree.get('/null')?.data).toBe(null)
    expect(server.tree.get('/empty')?.data).toEqual(bytes(''))
    expect(server.stat('/null').dataLength).toBe(0)
  })

  test('moves cversion, numChildren and pzxid of the parent, and nothing else of it', () => {
    const server = new Server().make('/p')
    const before = server.stat('/p')
    server.make('/p/a', '/p/b')
    expect(server.stat('/p')).toEqual({ ...before, cversion: 2, numChildren: 2, pzxid: 3n })
  })

  test('numbers a sequential node by the children its parent ever had, the other ones too', () => {
    const server = new Server().make('/p', '/p/a', '/p/b')
    server.ask(operator.request('delete', { path: '/p/a', version: -1 }))
    expect(server.do(create('/p/n-', CreateMode.PERSISTENT_SEQUENTIAL)).response).toEqual({ path: '/p/n-0000000002' })
    expect(server.do(create('/p/', CreateMode.EPHEMERAL_SEQUENTIAL)).response).toEqual({ path: '/p/0000000003' })
  })

  test('gives an ephemeral node its session as owner, a container none', () => {
    const server = new Server()
    server.ask(create('/e', CreateMode.EPHEMERAL))
    server.ask(client.request('createContainer', creating('/c', CreateMode.CONTAINER)))
    expect(server.stat('/e').ephemeralOwner).toBe(0x10n)
    expect(server.stat('/c').ephemeralOwner).toBe(0n)
    expect([server.tree.get('/e')?.isContainer, server.tree.get('/c')?.isContainer]).toEqual([false, true])
    expect([...server.tree.ephemerals(0x10n)]).toEqual(['/e'])
  })

  test('with the flags of a container and the opcode of create makes a persistent node', () => {
    const server = new Server()
    server.ask(create('/c', CreateMode.CONTAINER))
    expect(server.tree.get('/c')?.isContainer).toBe(false)
  })

  test('with the opcode of a container makes one whatever the flags say', () => {
    const server = new Server()
    const request = client.request('createContainer', creating('/c-', CreateMode.EPHEMERAL_SEQUENTIAL))
    expect(server.do(request).response).toMatchObject({ path: '/c-0000000000', stat: { ephemeralOwner: 0n } })
    expect(server.tree.get('/c-0000000000')?.isContainer).toBe(true)
    expect([...server.tree.ephemerals(0x10n)]).toEqual([])
  })

  test('below a container is not below an ephemeral node', () => {
    const server = new Server()
    server.ask(client.request('createContainer', creating('/c', CreateMode.CONTAINER)))
    expect(server.err(create('/c/child'))).toBe(0)
  })
})

describe('create is refused, in this order:', () => {
  const refused: readonly [why: string, path: string | null, flags: number, acl: typeof OPEN | null, err: number][] = [
    ['flags that mean nothing, before a null path', null, 7, OPEN, ErrorCode.BadArguments],
    ['a TTL, before a null path', null, CreateMode.PERSISTENT_WITH_TTL, OPEN, ErrorCode.Unimplemented],
    ['a null path, before the ACL', null, 0, [], ErrorCode.MarshallingError],
    ['no slash, before the ACL', 'a', 0, [], ErrorCode.BadArguments],
    ['an empty path, before the ACL', '', 0, [], ErrorCode.BadArguments],
    ['a NUL, before the ACL', '/a\0', 0, [], ErrorCode.BadArguments],
    ['no ACL, before the parent', '/none/a', 0, [], ErrorCode.InvalidACL],
    ['a null ACL, before the parent', '/none/a', 0, null, ErrorCode.InvalidACL],
    ['no parent, before the rest of the path', '/none/../a', 0, OPEN, ErrorCode.NoNode],
    ['a parent in a relative path', 'x/a', 0, OPEN, ErrorCode.NoNode],
    ['no right, before the rest of the path', '/closed/.', 0, OPEN, ErrorCode.NoAuth],
    ['a slash at the end, before NodeExists', '/open/', 0, OPEN, ErrorCode.BadArguments],
    ['a control character', '/open/\u0001', 0, OPEN, ErrorCode.BadArguments],
    ['the root', '/', 0, OPEN, ErrorCode.NodeExists],
    ['there already, before an ephemeral parent', '/open', 0, OPEN, ErrorCode.NodeExists],
    ['an ephemeral parent', '/mine/a', 0, OPEN, ErrorCode.NoChildrenForEphemerals],
  ]

  test.each(refused)('%s', (_why, path, flags, entries, err) => {
    const server = new Server().make('/open', '/closed')
    server.ask(operator.request('setACL', { path: '/closed', acl: [acl(Perms.READ, 'world', 'anyone')], version: -1 }))
    server.ask(create('/mine', CreateMode.EPHEMERAL))
    expect(server.err(create(path, flags, entries))).toBe(err)
  })

  test('a body that cannot be read', () => {
    expect(new Server().err(client.malformed('create'))).toBe(ErrorCode.MarshallingError)
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
