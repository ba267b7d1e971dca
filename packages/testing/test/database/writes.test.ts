import { CreateMode, ErrorCode, Perms } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { acl, bytes, Client, creating, OPEN, operator, Server } from './support.ts'

const client = new Client(0x10n)
const remove = (path: string | null, version = -1) => client.request('delete', { path, version })
const setData = (path: string | null, version = -1, data: Uint8Array | null = bytes('x')) =>
  client.request('setData', { path, data, version })
const setACL = (path: string | null, entries: typeof OPEN | null = OPEN, version = -1) =>
  client.request('setACL', { path, acl: entries, version })
const check = (path: string | null, version = -1) => client.request('check', { path, version })

/** Every session may read /closed and /closed/a, and nothing more. */
function withClosed(): Server {
  const server = new Server().make('/open', '/open/a', '/closed', '/closed/a')
  for (const path of ['/closed', '/closed/a']) {
    server.ask(operator.request('setACL', { path, acl: [acl(Perms.READ, 'world', 'anyone')], version: -1 }))
  }
  return server
}

describe('delete', () => {
  test('answers nothing, and moves cversion, numChildren and pzxid of the parent', () => {
    const server = new Server().make('/p', '/p/a')
    const before = server.stat('/p')
    expect(server.do(remove('/p/a', 0))).toEqual({ err: 0 })
    expect(server.stat('/p')).toEqual({ ...before, cversion: 2, numChildren: 0, pzxid: 3n })
    expect(server.tree.get('/p/a')).toBeUndefined()
  })

  test('of an ephemeral node takes it from its session', () => {
    const server = new Server()
    server.ask(client.request('create', creating('/e', CreateMode.EPHEMERAL)))
    server.ask(remove('/e'))
    expect(server.tree.ephemeralsCount).toBe(0)
  })

  test.each([
    ['a null path', null, -1, ErrorCode.MarshallingError],
    ['a path without a slash', 'open', -1, ErrorCode.BadArguments],
    ['a NUL', '/open/a\0', -1, ErrorCode.BadArguments],
    ['the root', '/', -1, ErrorCode.BadArguments],
    ['/zookeeper', '/zookeeper', -1, ErrorCode.BadArguments],
    ['/zookeeper/quota', '/zookeeper/quota', -1, ErrorCode.BadArguments],
    ['/zookeeper/config', '/zookeeper/config', -1, ErrorCode.BadArguments],
    ['no parent', '/none/a', -1, ErrorCode.NoNode],
    ['no right at the parent, before a node that is not there', '/closed/none', -1, ErrorCode.NoAuth],
    ['not there', '/open/none', -1, ErrorCode.NoNode],
    ['not there by that name: a slash at the end is not looked at', '/open/', -1, ErrorCode.NoNode],
    ['another version, before children', '/open', 1, ErrorCode.BadVersion],
    ['children', '/open', 0, ErrorCode.NotEmpty],
  ])('is refused: %s', (_why, path, version, err) => {
    expect(withClosed().err(remove(path, version))).toBe(err)
  })

  test('asks for the right at the parent, none at the node', () => {
    const server = new Server().make('/p', '/p/a')
    server.ask(operator.request('setACL', { path: '/p/a', acl: [acl(0, 'world', 'anyone')], version: -1 }))
    expect(server.err(remove('/p/a'))).toBe(0)
  })
})

describe('setData', () => {
  test('answers the Stat: version, mzxid, mtime and dataLength have changed, pzxid has not', () => {
    const server = new Server().make('/a')
    const before = server.stat('/a')
    server.time = 5_000
    expect(server.do(setData('/a', 0, bytes('abc')))).toEqual({
      err: 0,
      response: { stat: { ...before, version: 1, mzxid: 2n, mtime: 5_000n, dataLength: 3 } },
    })
  })

  test('of the root works', () => {
    const server = new Server()
    expect(server.err(setData('/'))).toBe(0)
    expect(server.stat('/')).toMatchObject({ version: 1, mzxid: 1n, dataLength: 1 })
  })

  test.each([
    ['a null path', null, -1, ErrorCode.BadArguments],
    ['an invalid path, before one that is not there', '/none/', -1, ErrorCode.BadArguments],
    ['the alias of the root', '', -1, ErrorCode.BadArguments],
    ['not there', '/none', -1, ErrorCode.NoNode],
    ['no right, before another version', '/closed', 5, ErrorCode.NoAuth],
    ['another version', '/open', 5, ErrorCode.BadVersion],
  ])('is refused: %s', (_why, path, version, err) => {
    expect(withClosed().err(setData(path, version))).toBe(err)
  })
})

describe('setACL', () => {
  test('answers the Stat: aversion has changed, nothing else has', () => {
    const server = new Server().make('/a')
    const before = server.stat('/a')
    expect(server.do(setACL('/a', OPEN, 0))).toEqual({ err: 0, response: { stat: { ...before, aversion: 1 } } })
  })

  test.each([
    ['an invalid path, before the ACL', '//', [], -1, ErrorCode.BadArguments],
    ['a bad ACL, before a node that is not there', '/none', [], -1, ErrorCode.InvalidACL],
    ['not there', '/none', OPEN, -1, ErrorCode.NoNode],
    ['no ADMIN right, before another version', '/closed', OPEN, 9, ErrorCode.NoAuth],
    ['another aversion', '/open', OPEN, 9, ErrorCode.BadVersion],
  ])('is refused: %s', (_why, path, entries, version, err) => {
    expect(withClosed().err(setACL(path, entries, version))).toBe(err)
  })
})

describe('check', () => {
  test.each([
    ['an invalid path', '/a/', -1, ErrorCode.BadArguments],
    ['not there', '/none', -1, ErrorCode.NoNode],
    ['another version', '/open', 1, ErrorCode.BadVersion],
  ])('is refused: %s', (_why, path, version, err) => {
    expect(withClosed().err(check(path, version))).toBe(err)
  })

  test('asks for the READ right', () => {
    const server = new Server().make('/a')
    server.ask(operator.request('setACL', { path: '/a', acl: [acl(Perms.WRITE, 'world', 'anyone')], version: -1 }))
    expect(server.err(check('/a'))).toBe(ErrorCode.NoAuth)
  })

  test('outside a multi is never answered, though it takes its zxid', () => {
    const server = new Server().make('/a')
    server.prepare(check('/a', 0))
    expect(server.commit()).toEqual([undefined])
    expect(server.tree.lastProcessedZxid).toBe(2n)
  })
})

describe('What is refused', () => {
  test('takes a zxid and changes nothing else', () => {
    const server = new Server()
    expect(server.err(remove('/none'))).toBe(ErrorCode.NoNode)
    expect(server.tree.lastProcessedZxid).toBe(1n)
    expect(server.log.at(-1)?.txn).toEqual({ type: 'error', err: ErrorCode.NoNode })
  })

  test.each([
    'create',
    'create2',
    'createTTL',
    'createContainer',
    'delete',
    'setData',
    'setACL',
    'check',
    'multi',
  ] as const)('with -5: a %s whose body cannot be read', (op) => {
    expect(new Server().err(client.malformed(op))).toBe(ErrorCode.MarshallingError)
  })

  test('with -123: a reconfig', () => {
    const reconfig = { joiningServers: null, leavingServers: '1', newMembers: null, curConfigId: -1n }
    expect(new Server().err(client.request('reconfig', reconfig))).toBe(ErrorCode.ReconfigDisabled)
  })
})

describe('Outstanding changes', () => {
  test('count: what is prepared behind a create sees its node', () => {
    const server = new Server()
    server.prepare(client.request('create', creating('/a')))
    server.prepare(client.request('create', creating('/a')))
    server.prepare(client.request('create', creating('/a/b')))
    server.prepare(remove('/a'))
    server.prepare(setData('/a', 0))
    server.prepare(setData('/a', 0))
    server.prepare(remove('/a/b'))
    server.prepare(remove('/a', 1))
    server.prepare(setData('/a'))
    expect(server.commit().map((answer) => answer?.err)).toEqual([
      0,
      ErrorCode.NodeExists,
      0,
      ErrorCode.NotEmpty,
      0,
      ErrorCode.BadVersion,
      0,
      0,
      ErrorCode.NoNode,
    ])
  })

  test('count: pipelined sequential nodes get numbers one after the other', () => {
    const server = new Server().make('/p')
    for (const _ of 'abc') server.prepare(client.request('create', creating('/p/n-', CreateMode.EPHEMERAL_SEQUENTIAL)))
    expect(server.commit().map((answer) => answer?.response)).toEqual([
      { path: '/p/n-0000000000' },
      { path: '/p/n-0000000001' },
      { path: '/p/n-0000000002' },
    ])
  })

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
  test('deletes the ephemeral nodes of the session, and of no other', () => {
    const server = new Server()
    const other = new Client(0x11n)
    server.ask(client.request('create', creating('/mine', CreateMode.EPHEMERAL)))
    server.ask(other.request('create', creating('/its', CreateMode.EPHEMERAL)))
    expect(server.do(client.request('closeSession', undefined))).toEqual({ err: 0 })
    expect([server.tree.get('/mine'), server.tree.get('/its')?.ephemeralOwner]).toEqual([undefined, 0x11n])
    expect(server.stat('/').pzxid).toBe(3n)
  })

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

describe('createSession', () => {
  test('takes the time-out from its four bytes', () => {
    const request = client.raw('createSession', new Uint8Array([0, 0, 0x75, 0x30]))
    expect(new Server().prepare(request)).toEqual({ type: 'createSession', timeOut: 30_000 })
  })

  test('with fewer bytes is refused', () => {
    expect(new Server().err(client.raw('createSession', bytes('abc')))).toBe(ErrorCode.MarshallingError)
  })
})

describe('deleteContainer', () => {
  const leader = new Client(0n)
  const removeContainer = (path: string) => leader.raw('deleteContainer', bytes(path))

  test('from a client is refused, whatever its path', () => {
    expect(new Server().err(client.raw('deleteContainer', bytes('/c')))).toBe(ErrorCode.BadArguments)
  })

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
