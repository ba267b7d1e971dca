import { CreateMode, ErrorCode, Perms } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { acl, bytes, Client, creating, OPEN, Server } from './support.ts'

const client = new Client(0x10n)
const remove = (path: string | null, version = -1) => client.request('delete', { path, version })
const setData = (path: string | null, version = -1, data: Uint8Array | null = bytes('x')) =>
  client.request('setData', { path, data, version })
const setACL = (path: string | null, entries: typeof OPEN | null = OPEN, version = -1) =>
  client.request('setACL', { path, acl: entries, version })

test.each([
  ['a NUL', '/open/a\0', ErrorCode.BadArguments],
  ['no parent', '/none/a', ErrorCode.NoNode],
])('delete is refused: %s', (_why, path, err) => {
  expect(new Server().make('/open').err(remove(path))).toBe(err)
})

test('setData of the root works', () => {
  const server = new Server()
  expect(server.err(setData('/'))).toBe(0)
  expect(server.stat('/')).toMatchObject({ version: 1, mzxid: 1n, dataLength: 1 })
})

test.each([
  ['an invalid path, before the ACL', '//', ErrorCode.BadArguments],
  ['a bad ACL, before a node that is not there', '/none', ErrorCode.InvalidACL],
])('setACL is refused: %s', (_why, path, err) => {
  expect(new Server().err(setACL(path, []))).toBe(err)
})

test('check outside of a multi is never answered, though it takes its zxid', () => {
  const server = new Server().make('/a')
  server.prepare(client.request('check', { path: '/a', version: 0 }))
  expect(server.commit()).toEqual([undefined])
  expect(server.tree.lastProcessedZxid).toBe(2n)
})

describe('What is refused', () => {
  test('takes a zxid and changes nothing else', () => {
    const server = new Server()
    expect(server.err(remove('/none'))).toBe(ErrorCode.NoNode)
    expect(server.tree.lastProcessedZxid).toBe(1n)
    expect(server.log.at(-1)?.txn).toEqual({ type: 'error', err: ErrorCode.NoNode })
  })

  test.each(['createTTL', 'check', 'multi'] as const)('with -5: a %s whose body cannot be read', (op) => {
    expect(new Server().err(client.malformed(op))).toBe(ErrorCode.MarshallingError)
  })
})

describe('Outstanding changes', () => {
  test('do not count for ACLs: until a new one is applied, the old one rules', () => {
    const server = new Server().make('/a')
    server.prepare(setACL('/a', [acl(Perms.READ, 'world', 'anyone')]))
    server.prepare(client.request('create', creating('/a/b')))
    expect(server.commit().map((answer) => answer?.err)).toEqual([0, 0])
    expect(server.err(client.request('create', creating('/a/c')))).toBe(ErrorCode.NoAuth)
  })

  test('are forgotten when they are applied, a later one of the same path stays', () => {
    const server = new Server().make('/a')
    const first = server.preparation.prepare(setData('/a', 0), 2n)
    const second = server.preparation.prepare(setData('/a', 1), 3n)
    const header = { sessionId: 0x10n, cxid: 1, time: 1 }
    server.tree.apply({ header: { ...header, zxid: 2n }, txn: first })
    server.preparation.applied(2n)
    expect(server.preparation.prepare(setData('/a', 2), 4n).type).toBe('setData')
    server.tree.apply({ header: { ...header, zxid: 3n }, txn: second })
    expect(server.tree.get('/a')?.version).toBe(2)
  })

  test('of a session that closes go with it, those it deleted itself do not', () => {
    const server = new Server()
    server.ask(client.request('create', creating('/old', CreateMode.EPHEMERAL)))
    server.ask(client.request('create', creating('/gone', CreateMode.EPHEMERAL)))
    server.prepare(client.request('create', creating('/new', CreateMode.EPHEMERAL)))
    server.prepare(remove('/gone'))
    const txn = server.prepare(client.request('closeSession', undefined))
    expect(txn).toEqual({ type: 'closeSession', paths: expect.arrayContaining(['/old', '/new']) })
    expect(server.commit().map((answer) => answer?.err)).toEqual([0, 0, 0])
    expect([...server.tree.paths()]).toEqual(['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config'])
  })

  test('of a session that closes: its nodes are gone for what comes behind, but their parent still counts them', () => {
    const server = new Server().make('/p')
    server.ask(client.request('create', creating('/p/e', CreateMode.EPHEMERAL)))
    const other = new Client(0x11n)
    server.prepare(client.request('closeSession', undefined))
    server.prepare(other.request('setData', { path: '/p/e', data: null, version: -1 }))
    server.prepare(other.request('delete', { path: '/p', version: -1 }))
    expect(server.commit().map((answer) => answer?.err)).toEqual([0, ErrorCode.NoNode, ErrorCode.NotEmpty])
    expect(server.err(other.request('delete', { path: '/p', version: -1 }))).toBe(0)
  })
})

describe('closeSession', () => {
  test('that does not name all of them deletes them all the same', () => {
    const server = new Server()
    server.ask(client.request('create', creating('/e', CreateMode.EPHEMERAL)))
    server.tree.apply({
      header: { sessionId: 0x10n, cxid: 1, zxid: 9n, time: 1 },
      txn: { type: 'closeSession', paths: ['/never'] },
    })
    expect(server.tree.get('/e')).toBeUndefined()
  })
})

describe('deleteContainer', () => {
  const leader = new Client(0n)
  const removeContainer = (path: string) => leader.raw('deleteContainer', bytes(path))

  test('by the leader deletes a container, one of DataTree.containers, unless it has children', () => {
    const server = new Server()
    server.ask(client.request('createContainer', creating('/c', CreateMode.CONTAINER)))
    server.make('/c/a')
    expect([...server.tree.containers]).toEqual(['/c'])
    expect(server.err(removeContainer('/c'))).toBe(ErrorCode.NotEmpty)
    server.ask(remove('/c/a'))
    expect(server.err(removeContainer('/c'))).toBe(0)
    expect([...server.tree.containers, ...server.children('/')]).toEqual(['zookeeper'])
  })

  test('is refused for an ephemeral node', () => {
    const server = new Server()
    server.ask(client.request('create', creating('/e', CreateMode.EPHEMERAL)))
    expect(server.err(removeContainer('/e'))).toBe(ErrorCode.BadVersion)
  })

  test.each([
    ['not there', '/none', ErrorCode.NoNode],
    ['the root', '/', ErrorCode.BadArguments],
  ])('is refused: %s', (_why, path, err) => {
    expect(new Server().err(removeContainer(path))).toBe(err)
  })
})
