import { ErrorCode, Perms, WatcherType } from '@zk/wire'
import { beforeEach, describe, expect, test } from 'vitest'
import { releaseOf } from '../../src/database/index.ts'
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
})

describe('setWatches', () => {
  const setWatches = (
    relativeZxid: bigint,
    dataWatches: (string | null)[],
    existWatches: (string | null)[] = [],
    childWatches: (string | null)[] = [],
  ) => server.do(client.request('setWatches', { relativeZxid, dataWatches, existWatches, childWatches }))

  test('is sent also to a session that may not read the node, before 3.9.6', () => {
    server = new Server({ release: releaseOf('3.9.5')! }).make('/a')
    server.ask(operator.request('setACL', { path: '/a', acl: [acl(0, 'world', 'anyone')], version: -1 }))
    setWatches(0n, ['/a'])
    expect(client.events).toEqual(['NodeDataChanged /a'])
  })

  test.each([
    [[null], [], []],
    [[], [null], []],
    [[], [], [null]],
  ])('fails with -5 at a path that is null: %j %j %j', (data, exist, child) => {
    expect(setWatches(2n, data, exist, child).err).toBe(ErrorCode.MarshallingError)
  })
})

test('checkWatches finds nothing at an empty path up to 3.8', () => {
  server = new Server({ release: releaseOf('3.8')! })
  getData('')
  expect(server.err(client.request('checkWatches', { path: '', type: WatcherType.Data }))).toBe(ErrorCode.NoWatcher)
})

describe('WatchManager.summary', () => {
  test('counts a connection until it is gone, though it has no watch left', () => {
    getData('/a')
    setData('/a')
    expect(server.tree.dataWatches.summary).toEqual({ connections: 1, paths: 0, watches: 0 })
    server.tree.removeWatcher(client)
    expect(server.tree.dataWatches.summary.connections).toBe(0)
  })
})
