import { CreateMode, ErrorCode, Perms, WatcherType } from '@zk/wire'
import { beforeEach, describe, expect, test } from 'vitest'
import { acl, bytes, Client, creating, operator, Server } from './support.ts'

let server: Server
let client: Client
let other: Client

beforeEach(() => {
  server = new Server().make('/a', '/a/b')
  client = new Client(0x10n)
  other = new Client(0x11n)
})

const exists = (path: string, who = client) => server.do(who.request('exists', { path, watch: true }))
const getData = (path: string, who = client) => server.do(who.request('getData', { path, watch: true }))
const getChildren = (path: string, who = client) => server.do(who.request('getChildren', { path, watch: true }))
const setData = (path: string) => server.ask(operator.request('setData', { path, data: bytes('x'), version: -1 }))
const remove = (path: string) => server.ask(operator.request('delete', { path, version: -1 }))

describe('A watch', () => {
  test('by getData receives one event that the data has changed, with the zxid -1', () => {
    getData('/a')
    setData('/a')
    setData('/a')
    expect(client.events).toEqual(['NodeDataChanged /a'])
  })

  test('by getData receives the event that the node is deleted', () => {
    getData('/a/b')
    remove('/a/b')
    expect(client.events).toEqual(['NodeDeleted /a/b'])
  })

  test('by exists is set though the node does not exist, and fires when it is made', () => {
    expect(exists('/new').err).toBe(ErrorCode.NoNode)
    server.make('/new')
    expect(client.events).toEqual(['NodeCreated /new'])
  })

  test('by getData and getChildren is not set on a node that is not there', () => {
    expect([getData('/new').err, getChildren('/new').err]).toEqual([ErrorCode.NoNode, ErrorCode.NoNode])
    expect(server.tree.watchCount).toBe(0)
  })

  test('by getChildren receives events of a child created and of a child deleted, not of its data', () => {
    getChildren('/a')
    setData('/a/b')
    server.make('/a/c')
    getChildren('/a')
    remove('/a/c')
    expect(client.events).toEqual(['NodeChildrenChanged /a', 'NodeChildrenChanged /a'])
  })

  test('by getChildren2 is one by getChildren', () => {
    server.ask(client.request('getChildren2', { path: '/a', watch: true }))
    remove('/a/b')
    expect(client.events).toEqual(['NodeChildrenChanged /a'])
  })

  test('on the children of the root fires', () => {
    getChildren('/')
    server.make('/new')
    expect(client.events).toEqual(['NodeChildrenChanged /'])
  })

  test('is not set unless it is asked for', () => {
    for (const op of ['exists', 'getData', 'getChildren', 'getChildren2'] as const) {
      server.ask(client.request(op, { path: '/a', watch: false }))
    }
    expect(server.tree.watchCount).toBe(0)
  })

  test('does not fire for an ACL', () => {
    getData('/a')
    getChildren('/a')
    server.ask(operator.request('setACL', { path: '/a', acl: creating('').acl, version: -1 }))
    expect(client.events).toEqual([])
  })

  test('fires before the transaction is applied to the end, for each watcher', () => {
    getData('/a')
    getData('/a', other)
    setData('/a')
    expect([client.events, other.events]).toEqual([['NodeDataChanged /a'], ['NodeDataChanged /a']])
  })

  test('sends no event to a session that may not read the node, and is removed all the same', () => {
    getData('/a')
    getChildren('/a')
    const closed = [acl(Perms.WRITE, 'world', 'anyone')]
    server.ask(operator.request('setACL', { path: '/a', acl: closed, version: -1 }))
    setData('/a')
    server.make('/a/c')
    expect([client.events, server.tree.watchCount]).toEqual([[], 0])
  })

  test('on a node that is made fires by the ACL that the node gets, that of the parent by its own', () => {
    exists('/a/c')
    getChildren('/a')
    const request = { ...creating('/a/c'), acl: [acl(Perms.WRITE, 'world', 'anyone')] }
    server.ask(operator.request('create', request))
    expect(client.events).toEqual(['NodeChildrenChanged /a'])
  })

  test('on the children of a deleted node does not fire a second time where the first event was kept back', () => {
    getData('/a/b')
    getChildren('/a/b')
    server.ask(operator.request('setACL', { path: '/a/b', acl: [acl(0, 'world', 'anyone')], version: -1 }))
    getChildren('/a')
    remove('/a/b')
    expect([client.events, server.tree.watchCount]).toEqual([['NodeChildrenChanged /a'], 0])
  })

  test('of a connection that is gone is gone, and none is set for it any more', () => {
    getData('/a')
    getChildren('/a')
    getData('/a', other)
    server.tree.removeWatcher(client)
    getData('/a')
    expect(server.tree.watchCount).toBe(1)
    setData('/a')
    expect([client.events, other.events]).toEqual([[], ['NodeDataChanged /a']])
  })
})

describe('The order of events:', () => {
  test('create fires data watches of the path, then child watches of the parent', () => {
    getChildren('/')
    exists('/new')
    server.make('/new')
    expect(client.events).toEqual(['NodeCreated /new', 'NodeChildrenChanged /'])
  })

  test('delete fires data watches, then child watches of the path, then child watches of the parent', () => {
    const events: string[] = []
    const listener = (name: string, sessionId: bigint) =>
      Object.assign(new Client(sessionId), {
        event: (type: string, path: string) => events.push(`${name} ${type} ${path}`),
      })
    getChildren('/a', listener('parent', 1n))
    getChildren('/a/b', listener('children', 2n))
    getData('/a/b', listener('data', 3n))
    remove('/a/b')
    expect(events).toEqual(['data NodeDeleted /a/b', 'children NodeDeleted /a/b', 'parent NodeChildrenChanged /a'])
  })

  test('delete sends one event to a session that watches both data and children', () => {
    getData('/a/b')
    getChildren('/a/b')
    getChildren('/a')
    remove('/a/b')
    expect(client.events).toEqual(['NodeDeleted /a/b', 'NodeChildrenChanged /a'])
    expect(server.tree.watchCount).toBe(0)
  })

  test('a multi fires watches in the order of its parts', () => {
    getData('/a')
    getChildren('/a')
    getData('/a/b')
    server.ask(
      operator.request('multi', [
        { type: 2, request: { path: '/a/b', version: -1 } },
        { type: 5, request: { path: '/a', data: null, version: -1 } },
      ]),
    )
    expect(client.events).toEqual(['NodeDeleted /a/b', 'NodeChildrenChanged /a', 'NodeDataChanged /a'])
  })

  test('a multi that is refused triggers no watch', () => {
    getData('/a')
    server.ask(
      operator.request('multi', [
        { type: 5, request: { path: '/a', data: null, version: -1 } },
        { type: 2, request: { path: '/none', version: -1 } },
      ]),
    )
    expect(client.events).toEqual([])
  })

  test('a session that closes fires the watches of each of its nodes', () => {
    for (const path of ['/a/e1', '/a/e2']) server.ask(other.request('create', creating(path, CreateMode.EPHEMERAL)))
    getData('/a/e1')
    getData('/a/e2')
    getChildren('/a')
    server.ask(other.request('closeSession', undefined))
    expect(client.events).toHaveLength(3)
    expect(client.events).toEqual(
      expect.arrayContaining(['NodeDeleted /a/e1', 'NodeDeleted /a/e2', 'NodeChildrenChanged /a']),
    )
  })
})

describe('setWatches', () => {
  const setWatches = (
    relativeZxid: bigint,
    dataWatches: (string | null)[] | null,
    existWatches: (string | null)[] | null = [],
    childWatches: (string | null)[] | null = [],
  ) => server.do(client.request('setWatches', { relativeZxid, dataWatches, existWatches, childWatches }))

  test('fires a data watch for what it has missed, with the zxid -1', () => {
    setData('/a')
    expect(setWatches(2n, ['/gone', '/a', '/a/b'])).toEqual({ err: 0 })
    expect(client.events).toEqual(['NodeDeleted /gone', 'NodeDataChanged /a'])
  })

  test('fires an exist watch of a node that was there all along', () => {
    setWatches(99n, [], ['/a', '/gone'])
    expect(client.events).toEqual(['NodeCreated /a'])
    server.make('/gone')
    expect(client.events.at(-1)).toBe('NodeCreated /gone')
  })

  test('fires a child watch for what it has missed, by pzxid', () => {
    setWatches(1n, [], [], ['/gone', '/a', '/a/b'])
    expect(client.events).toEqual(['NodeDeleted /gone', 'NodeChildrenChanged /a', 'NodeChildrenChanged /a/b'])
  })

  test('is sent also to a session that may not read the node', () => {
    server.ask(operator.request('setACL', { path: '/a', acl: [acl(0, 'world', 'anyone')], version: -1 }))
    setWatches(0n, ['/a'])
    expect(client.events).toEqual(['NodeDataChanged /a'])
  })

  test('sets again what has missed nothing', () => {
    setWatches(2n, ['/a'], [], ['/a'])
    expect([client.events, server.tree.watchCount]).toEqual([[], 2])
    setData('/a')
    remove('/a/b')
    expect(client.events).toEqual(['NodeDataChanged /a', 'NodeChildrenChanged /a'])
  })

  test('fires NodeDataChanged for a node deleted and created again meanwhile', () => {
    remove('/a/b')
    server.make('/a/b')
    setWatches(2n, ['/a/b'])
    expect(client.events).toEqual(['NodeDataChanged /a/b'])
  })

  test.each([
    [null, [], []],
    [[], null, []],
    [[], [], null],
    [[null], [], []],
    [[], [null], []],
    [[], [], [null]],
  ])('fails with -5 at null: %j %j %j', (data, exist, child) => {
    expect(setWatches(2n, data, exist, child).err).toBe(ErrorCode.MarshallingError)
  })
})

describe('checkWatches', () => {
  const checkWatches = (path: string | null, type: number, who = client) =>
    server.err(who.request('checkWatches', { path, type }))

  test('says whether there is a watch of the type', () => {
    getData('/a')
    expect(checkWatches('/a', WatcherType.Data)).toBe(0)
    expect(checkWatches('/a', WatcherType.Any)).toBe(0)
    expect(checkWatches('/a', WatcherType.Children)).toBe(ErrorCode.NoWatcher)
    expect(checkWatches('/a/b', WatcherType.Any)).toBe(ErrorCode.NoWatcher)
  })

  test('removes nothing', () => {
    getData('/a')
    checkWatches('/a', WatcherType.Any)
    expect(server.tree.watchCount).toBe(1)
  })

  test('is satisfied by a watch of another session', () => {
    getData('/a', other)
    expect(checkWatches('/a', WatcherType.Data)).toBe(0)
  })

  test('goes up the path by its slashes: it fails with -5 where there is none, and finds nothing at an empty path', () => {
    getData('')
    expect(checkWatches('a', WatcherType.Any)).toBe(ErrorCode.MarshallingError)
    expect(checkWatches('', WatcherType.Data)).toBe(ErrorCode.NoWatcher)
  })

  test('fails with -5 for a type that there is not, and for a null path', () => {
    expect(checkWatches('/a', 4)).toBe(ErrorCode.MarshallingError)
    expect(checkWatches(null, WatcherType.Any)).toBe(ErrorCode.MarshallingError)
  })
})

describe('removeWatches', () => {
  const removeWatches = (path: string | null, type: number) =>
    server.err(client.request('removeWatches', { path, type }))

  test('removes the watch of the type, of this connection only', () => {
    getData('/a')
    getChildren('/a')
    getData('/a', other)
    expect(removeWatches('/a', WatcherType.Data)).toBe(0)
    expect(removeWatches('/a', WatcherType.Data)).toBe(ErrorCode.NoWatcher)
    expect(server.tree.watchCount).toBe(2)
    setData('/a')
    remove('/a/b')
    expect([client.events, other.events]).toEqual([['NodeChildrenChanged /a'], ['NodeDataChanged /a']])
  })

  test('removes both with Any', () => {
    getData('/a')
    getChildren('/a')
    expect(removeWatches('/a', WatcherType.Any)).toBe(0)
    expect(server.tree.watchCount).toBe(0)
  })

  test('finds none after it has fired', () => {
    getData('/a')
    setData('/a')
    expect(removeWatches('/a', WatcherType.Any)).toBe(ErrorCode.NoWatcher)
  })

  test('fails with -5 for a type that there is not, with -121 for a null path', () => {
    expect(removeWatches('/a', 0)).toBe(ErrorCode.MarshallingError)
    expect(removeWatches(null, WatcherType.Any)).toBe(ErrorCode.NoWatcher)
  })
})

describe('WatchManager.summary', () => {
  test('counts connections, paths and watches', () => {
    getData('/a')
    getData('/a/b')
    getData('/a', other)
    expect(server.tree.dataWatches.summary).toEqual({ connections: 2, paths: 2, watches: 3 })
  })

  test('counts a connection until it is gone, though it has no watch left', () => {
    getData('/a')
    setData('/a')
    expect(server.tree.dataWatches.summary).toEqual({ connections: 1, paths: 0, watches: 0 })
    server.tree.removeWatcher(client)
    expect(server.tree.dataWatches.summary.connections).toBe(0)
  })
})
