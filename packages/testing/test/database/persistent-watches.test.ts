import { ErrorCode, WatcherType } from '@zk/wire'
import { beforeEach, describe, expect, test } from 'vitest'
import { releaseOf } from '../../src/database/index.ts'
import { bytes, Client, operator, Server } from './support.ts'

const PERSISTENT = 0
const RECURSIVE = 1
const NEVER = 2n ** 62n

let server: Server
let client: Client

beforeEach(() => start('3.8'))

function start(release: string): void {
  server = new Server({ release: releaseOf(release)! }).make('/a')
  client = new Client(0x10n)
}

const addWatch = (path: string | null, mode: number) => server.do(client.request('addWatch', { path, mode }))
const removeWatches = (path: string, type: number) => server.err(client.request('removeWatches', { path, type }))
const checkWatches = (path: string, type: number) => server.err(client.request('checkWatches', { path, type }))
const getData = (path: string) => server.do(client.request('getData', { path, watch: true }))
const getChildren = (path: string) => server.do(client.request('getChildren', { path, watch: true }))
const setData = (path: string) => server.ask(operator.request('setData', { path, data: bytes('x'), version: -1 }))
const remove = (path: string) => server.ask(operator.request('delete', { path, version: -1 }))

/** The events that the client receives of a child created, changed and deleted, and of two changes of the node. */
function toldOf(path: string): string[] {
  client.events.length = 0
  server.make(`${path}/x`)
  setData(`${path}/x`)
  remove(`${path}/x`)
  setData(path)
  setData(path)
  return [...client.events]
}

const ofNode = ['NodeDataChanged /a', 'NodeDataChanged /a']
const ofChild = ['NodeCreated /a/x', 'NodeDataChanged /a/x', 'NodeDeleted /a/x']

describe('A persistent watch', () => {
  test('counts once in each of the two tables', () => {
    addWatch('/a', PERSISTENT)
    addWatch('/a', PERSISTENT)
    expect(server.tree.dataWatches.summary).toEqual({ connections: 1, paths: 1, watches: 1 })
    expect(server.tree.watchCount).toBe(2)
  })

  test('goes with its connection, which will have none any more', () => {
    addWatch('/a', RECURSIVE)
    server.tree.removeWatcher(client)
    addWatch('/a', PERSISTENT)
    expect([toldOf('/a'), server.tree.watchCount, server.tree.dataWatches.looksUp]).toEqual([[], 0, false])
  })
})

test('A recursive watch of a node does not fire for a neighbour whose name begins like the node', () => {
  addWatch('/a', RECURSIVE)
  server.make('/ab')
  expect(client.events).toEqual([])
})

test('addWatch of a path that is null is refused', () => {
  expect(addWatch(null, PERSISTENT).err).toBe(ErrorCode.MarshallingError)
  expect(server.tree.watchCount).toBe(0)
})

describe('Several watches of one connection on one path', () => {
  test('are all there from 3.9 on, and one goes without the others', () => {
    start('3.9')
    addWatch('/a', RECURSIVE)
    addWatch('/a', PERSISTENT)
    getData('/a')
    getChildren('/a')
    const both = [
      'NodeCreated /a/x',
      'NodeChildrenChanged /a',
      'NodeDataChanged /a/x',
      'NodeDeleted /a/x',
      'NodeChildrenChanged /a',
      ...ofNode,
    ]
    for (let round = 0; round < 2; round++) expect(toldOf('/a')).toEqual(both)
    expect(removeWatches('/a', WatcherType.Data)).toBe(ErrorCode.NoWatcher)
    expect(checkWatches('/a', WatcherType.Persistent)).toBe(ErrorCode.Ok)
    expect(removeWatches('/a', WatcherType.Persistent)).toBe(ErrorCode.Ok)
    expect(checkWatches('/a', WatcherType.Persistent)).toBe(ErrorCode.NoWatcher)
    expect(toldOf('/a')).toEqual([...ofChild, ...ofNode])
    expect(removeWatches('/a', WatcherType.PersistentRecursive)).toBe(ErrorCode.Ok)
    expect([toldOf('/a'), server.tree.watchCount]).toEqual([[], 0])
  })

  test('go together with the type Any', () => {
    for (const release of ['3.8', '3.9']) {
      start(release)
      addWatch('/a', RECURSIVE)
      addWatch('/a', PERSISTENT)
      getData('/a')
      expect(removeWatches('/a', WatcherType.Any)).toBe(ErrorCode.Ok)
      expect([server.tree.watchCount, server.tree.dataWatches.looksUp]).toEqual([0, false])
    }
  })
})

describe('setWatches2', () => {
  const none = { dataWatches: [], existWatches: [], childWatches: [], persistentWatches: [] }
  const setWatches2 = (lists: object) =>
    server.err(
      client.request('setWatches2', { relativeZxid: NEVER, ...none, persistentRecursiveWatches: [], ...lists }),
    )

  test('is refused with a list that is null, once it comes to it', () => {
    expect(setWatches2({ persistentWatches: ['/a'], persistentRecursiveWatches: null })).toBe(
      ErrorCode.MarshallingError,
    )
    expect(server.tree.watchCount).toBe(2)
    expect(setWatches2({ persistentWatches: [null] })).toBe(ErrorCode.MarshallingError)
    expect(setWatches2({ persistentRecursiveWatches: [null] })).toBe(ErrorCode.MarshallingError)
  })
})
