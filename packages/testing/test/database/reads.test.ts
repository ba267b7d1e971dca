import { ErrorCode, operationName } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { answerRead, goesToLeader, isKnown, isWrite, NEWEST, releaseOf } from '../../src/database/index.ts'
import { bytes, Client, Server } from './support.ts'

const client = new Client(0x10n)

describe('A new tree', () => {
  const server = new Server()

  test('has the nodes of a new server', () => {
    expect([...server.tree.paths()]).toEqual(['/', '/zookeeper', '/zookeeper/quota', '/zookeeper/config'])
    expect([server.tree.nodeCount, server.tree.approximateDataSize]).toEqual([5, 44])
  })

  test.each([
    ['/', 1, -1, 0],
    ['/zookeeper', 2, -2, 0],
    ['/zookeeper/quota', 0, 0, 0],
    ['/zookeeper/config', 0, 0, -1],
  ])('%s has %i children, cversion %i, aversion %i, and nothing else', (path, numChildren, cversion, aversion) => {
    const nothing = { czxid: 0n, mzxid: 0n, pzxid: 0n, ctime: 0n, mtime: 0n, version: 0, ephemeralOwner: 0n }
    expect(server.stat(path)).toEqual({ ...nothing, dataLength: 0, numChildren, cversion, aversion })
  })

  test('can be given the configuration of its quorum', () => {
    const { tree } = new Server()
    tree.setConfig(bytes('server.1='), 0x100000000n, 7)
    const { mzxid, mtime, version } = tree.get('/zookeeper/config')!
    expect({ mzxid, mtime, version }).toEqual({ mzxid: 0x100000000n, mtime: 7n, version: -1 })
    expect([tree.lastProcessedZxid, tree.approximateDataSize]).toEqual([0n, 44 + 9])
  })
})

describe('Reads', () => {
  const server = new Server().make('/a', '/a/b', '/a/c')
  server.ask(client.request('setData', { path: '/a', data: bytes('abc'), version: -1 }))

  test('exists, alone of all, refuses a NUL', () => {
    expect(server.err(client.request('exists', { path: '/a\0', watch: false }))).toBe(ErrorCode.BadArguments)
    expect(server.err(client.request('getData', { path: '/a\0', watch: false }))).toBe(ErrorCode.NoNode)
  })

  test('getAllChildrenNumber of the root counts all nodes but the root', () => {
    expect(server.ask(client.request('getAllChildrenNumber', { path: '/' }))).toEqual({ totalNumber: 6 })
  })

  test('without a connection set no watch', () => {
    const request = { ...client.request('getData', { path: '/a', watch: true }), connection: undefined }
    expect(answerRead(server.tree, request).err).toBe(0)
    const lists = { relativeZxid: 0n, dataWatches: ['/none'], existWatches: [], childWatches: [] }
    const setWatches = { ...client.request('setWatches', lists), connection: undefined }
    expect(answerRead(server.tree, setWatches).err).toBe(0)
    const removeWatches = { ...client.request('removeWatches', { path: '/a', type: 3 }), connection: undefined }
    expect(answerRead(server.tree, removeWatches).err).toBe(ErrorCode.NoWatcher)
    expect(server.tree.watchCount).toBe(0)
  })
})

describe('Opcodes', () => {
  const all = Array.from({ length: 140 }, (_, i) => i - 20)
  const names = (is: (opCode: number) => boolean) => all.filter(is).map(operationName)

  test('isWrite: what becomes a transaction', () => {
    expect(names(isWrite)).toEqual([
      'closeSession',
      'createSession',
      'create',
      'delete',
      'setData',
      'setACL',
      'check',
      'multi',
      'create2',
      'reconfig',
      'createContainer',
      'deleteContainer',
      'createTTL',
    ])
  })

  test('goesToLeader: that, and sync', () => {
    expect(all.filter((opCode) => goesToLeader(opCode) !== isWrite(opCode)).map(operationName)).toEqual(['sync'])
  })

  test('isKnown: that, and all that answerRead answers', () => {
    const server = new Server()
    for (const opCode of all.filter((opCode) => !isWrite(opCode))) {
      const op = operationName(opCode) ?? 'error'
      const request = client.malformed(op)
      if (isKnown(opCode, NEWEST)) expect(answerRead(server.tree, request).err).toBe(ErrorCode.MarshallingError)
      else expect(() => answerRead(server.tree, request)).toThrow(/is not a read/)
    }
  })

  test('isKnown: an older server knows less, and from 3.8.5 and 3.9.3 on no check outside of a multi', () => {
    const all = releaseOf('3.8.4')!
    const unknown = (release: string) =>
      names((opCode) => isKnown(opCode, all) && !isKnown(opCode, releaseOf(release)!))
    expect(unknown('3.5')).toEqual([
      'multiRead',
      'getEphemerals',
      'getAllChildrenNumber',
      'setWatches2',
      'addWatch',
      'whoAmI',
    ])
    expect(unknown('3.6')).toEqual(['whoAmI'])
    expect(unknown('3.7')).toEqual([])
    expect(unknown('3.9.2')).toEqual([])
    for (const release of ['3.8.5', '3.9.3', '3.9']) expect(unknown(release)).toEqual(['check'])
  })

  test('a request of the other kind is an error of the caller', () => {
    const { preparation, tree } = new Server()
    expect(() => preparation.prepare(client.request('getData', { path: '/', watch: false }), 1n)).toThrow(
      /is not a write/,
    )
    expect(() => answerRead(tree, client.request('delete', { path: '/', version: -1 }))).toThrow(/is not a read/)
  })
})
