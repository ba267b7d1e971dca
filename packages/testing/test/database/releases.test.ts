import { CreateMode, ErrorCode, type MultiOp, OpCode, Perms } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { concerns, DEBIAN, isBefore, newest, releaseOf } from '../../src/database/index.ts'
import { acl, bytes, Client, OPEN, operator, Server } from './support.ts'

const UNREADABLE = [acl(Perms.ALL & ~Perms.READ, 'world', 'anyone')]

const serverOf = (release: string) => new Server({ release: releaseOf(release)! })

describe('releaseOf', () => {
  test.each(Object.entries(newest))('%s stands for %s', (line, release) => {
    expect(releaseOf(line)).toEqual(releaseOf(release))
    expect(releaseOf(line)?.name).toBe(release)
  })

  test('a release has what came with it, or before it in its line or an earlier one', () => {
    const { name, hidesStats, tellsStatInMulti, hasWatchModes, showsMissingNodes } = releaseOf('3.8.3')!
    expect({ name, hidesStats, tellsStatInMulti, hasWatchModes, showsMissingNodes }).toEqual({
      name: '3.8.3',
      hidesStats: false,
      tellsStatInMulti: true,
      hasWatchModes: false,
      showsMissingNodes: false,
    })
  })

  test("Debian's 3.8.0 is 3.8.0, but hides events", () => {
    const { name: _, ...original } = releaseOf('3.8.0')!
    expect(releaseOf(DEBIAN)).toEqual({ ...original, name: DEBIAN, hidesEvents: true })
  })

  test.each(['3.4.14', '3.9.7', '4.0.0', '3.9.x', 'constructor', ''])('there is no release %s', (name) => {
    expect(releaseOf(name)).toBeUndefined()
  })
})

test.each([
  [{ since: ['3.8.4', '3.9.2'] }, ['3.8.4', '3.8.7', '3.9.2'], ['3.8.3', '3.9.1', '3.7.2', DEBIAN]],
  [{ since: ['3.6.0'], before: '3.9' }, ['3.6.0', '3.8.7', DEBIAN], ['3.5.10', '3.9.0']],
  [{ before: '3.6' }, ['3.5.10'], ['3.6.0']],
  [{ since: ['3.9.2'], inDebian: true }, ['3.9.2', DEBIAN], ['3.8.7']],
])('%j', (releases, those, others) => {
  expect(those.filter((release) => !concerns(releases, release))).toEqual([])
  expect(others.filter((release) => concerns(releases, release))).toEqual([])
})

test('isBefore compares numbers, and takes a line for all of its releases', () => {
  expect([isBefore('3.5.9', '3.5.10'), isBefore('3.5.10', '3.6'), isBefore('3.6.0', '3.6')]).toEqual([
    true,
    true,
    false,
  ])
})

describe('What depends on the release', () => {
  test.each([
    ['3.9', 'NodeCreated /a', 1n],
    ['3.8', 'NodeCreated /a', -1n],
  ])('%s: events and their zxids', (release, event, zxid) => {
    const [server, client] = [serverOf(release), new Client(1n)]
    server.do(client.request('exists', { path: '/a', watch: true }))
    server.make('/a')
    expect([client.events, client.zxids]).toEqual([[event], [zxid]])
  })

  test.each([
    ['3.8.3', ErrorCode.Ok, ['NodeDataChanged /a']],
    [DEBIAN, ErrorCode.Ok, []],
    ['3.8.4', ErrorCode.NoAuth, []],
  ])('%s: exists of a node that the session may not read, and the event', (release, err, events) => {
    const [server, client] = [serverOf(release), new Client(1n)]
    server.do(operator.request('create', { path: '/a', data: null, acl: UNREADABLE, flags: 0 }))
    expect(server.err(client.request('exists', { path: '/a', watch: true }))).toBe(err)
    server.do(operator.request('setData', { path: '/a', data: bytes('x'), version: -1 }))
    expect(client.events).toEqual(events)
  })

  test.each([
    ['3.9.5', ['NodeDataChanged /a']],
    ['3.9.6', []],
  ])('%s: setWatches of a node that the session may not read, and that has changed', (release, events) => {
    const [server, client] = [serverOf(release), new Client(1n)]
    server.do(operator.request('create', { path: '/a', data: null, acl: UNREADABLE, flags: 0 }))
    const lists = { dataWatches: ['/a'], existWatches: [], childWatches: [] }
    server.ask(client.request('setWatches', { relativeZxid: 0n, ...lists }))
    expect(client.events).toEqual(events)
  })

  const creating = (op: 'create' | 'create2', flags: number, list: typeof OPEN | null = OPEN): MultiOp => ({
    type: OpCode[op],
    request: { path: '/a', data: null, acl: list, flags },
  })

  test.each<[string, MultiOp, number, unknown]>([
    ['3.8.1', creating('create2', 0), 0, [{ type: OpCode.create, response: { path: '/a' } }]],
    ['3.8.2', creating('create2', 0), 0, [{ type: OpCode.create2, response: expect.objectContaining({ path: '/a' }) }]],
    ['3.8.2', creating('create', 0), 0, [{ type: OpCode.create, response: { path: '/a' } }]],
    ['3.8.1', creating('create', 77), 0, [{ type: OpCode.error, response: { err: ErrorCode.BadArguments } }]],
    ['3.8.2', creating('create', 77), ErrorCode.MarshallingError, undefined],
    ['3.8.2', creating('create', CreateMode.PERSISTENT_WITH_TTL), ErrorCode.MarshallingError, undefined],
    ['3.8.1', creating('create', 0, null), 0, [{ type: OpCode.error, response: { err: ErrorCode.InvalidACL } }]],
    ['3.8.2', creating('create', 0, null), ErrorCode.MarshallingError, undefined],
    ['3.5', creating('create', 0, null), ErrorCode.MarshallingError, undefined],
  ])('%s: a multi of %j', (release, part, err, response) => {
    expect(serverOf(release).do(new Client(1n).request('multi', [part]))).toEqual({ err, response })
  })

  test.each([
    ['3.5', ErrorCode.NoNode],
    ['3.6', ErrorCode.NoAuth],
  ])('%s: delete of a missing node below one that the session may not change', (release, err) => {
    const server = serverOf(release).make('/a')
    server.ask(operator.request('setACL', { path: '/a', acl: [acl(Perms.READ, 'world', 'anyone')], version: -1 }))
    expect(server.err(new Client(1n).request('delete', { path: '/a/none', version: -1 }))).toBe(err)
  })

  test.each([
    ['3.8', ErrorCode.BadArguments],
    ['3.9.5', ErrorCode.Ok],
  ])('%s: deleteContainer of a client', (release, err) => {
    const server = serverOf(release).make('/a')
    const path = new Uint8Array([0, 0, 0, 2, 47, 97])
    expect(server.err(new Client(1n).raw('deleteContainer', path))).toBe(err)
    expect(server.tree.get('/a') === undefined).toBe(err === ErrorCode.Ok)
  })
})
