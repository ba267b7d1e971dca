// What a call does not know it refuses before anything is sent: the shapes of older clients, and options that are misspelled.
import { describe, expect, test } from 'vitest'
import { deleteRecursive, op, walk, type ZooKeeper } from '../src/index.ts'
import { connected, outcome, VirtualWorld } from './support/index.ts'

type Call = (zk: ZooKeeper, options: never) => Promise<unknown>

const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
const every = 'signal, timeout, repeatThrottled, session'

const calls: [name: string, call: Call, known: string][] = [
  ['create', (zk, options) => zk.create('/a', '', options), `mode, acl, ttl, parents, ${every}`],
  ['delete', (zk, options) => zk.delete('/a', options), `version, ${every}`],
  ['exists', (zk, options) => zk.exists('/a', options), every],
  ['existsAndWatch', (zk, options) => zk.existsAndWatch('/a', options), every],
  ['getData', (zk, options) => zk.getData('/a', options), every],
  ['getDataAndWatch', (zk, options) => zk.getDataAndWatch('/a', options), every],
  ['setData', (zk, options) => zk.setData('/a', '', options), `version, ${every}`],
  ['getChildren', (zk, options) => zk.getChildren('/a', options), every],
  ['getChildrenAndWatch', (zk, options) => zk.getChildrenAndWatch('/a', options), every],
  ['getACL', (zk, options) => zk.getACL('/a', options), every],
  ['setACL', (zk, options) => zk.setACL('/a', acl, options), `version, ${every}`],
  ['sync', (zk, options) => zk.sync('/a', options), every],
  ['multi', (zk, options) => zk.multi([op.check('/a')], options), every],
  ['multiRead', (zk, options) => zk.multiRead([op.getData('/a')], options), every],
  ['getEphemerals', (zk, options) => zk.getEphemerals('/a', options), every],
  ['getAllChildrenNumber', (zk, options) => zk.getAllChildrenNumber('/a', options), every],
  ['whoAmI', (zk, options) => zk.whoAmI(options), every],
  ['getConfig', (zk, options) => zk.getConfig(options), every],
  ['getConfigAndWatch', (zk, options) => zk.getConfigAndWatch(options), every],
  ['reconfig', (zk, options) => zk.reconfig({ leaving: [1] }, options), every],
  ['checkWatches', (zk, options) => zk.checkWatches('/a', 'Any', options), every],
  ['removeWatches', (zk, options) => zk.removeWatches('/a', 'Any', options), every],
  ['addAuth', (zk, options) => zk.addAuth('digest', 'a:b', options), every],
  ['ensureContainer', (zk, options) => zk.ensureContainer('/a', options), `acl, ${every}`],
  ['ensurePath', (zk, options) => zk.ensurePath('/a', options), `acl, ${every}`],
  ['watch', (zk, options) => Promise.resolve(zk.watch('/a', options)), `recursive, maxQueued, ${every}`],
  ['followServers', (zk, options) => zk.followServers(options), 'signal'],
  [
    'deleteRecursive',
    (zk, options) => deleteRecursive(zk, '/a', options),
    `concurrency, contentsOnly, onProgress, ${every}`,
  ],
  ['walk', async (zk, options) => await walk(zk, '/a', options).next(), `concurrency, depth, onUnreadable, ${every}`],
]

/** What is said of two names that are spelled almost like known ones. */
function misspelled(known: string): string {
  const names = known.split(', ')
  return [
    ['versoin', 'version'],
    ['timeOut', 'timeout'],
  ]
    .map(([given, meant]) => (names.includes(meant!) ? `${given} (did you mean ${meant}?)` : given))
    .join(', ')
}

async function refused(call: Call, options: unknown): Promise<unknown> {
  const { zk, connection } = await connected(new VirtualWorld())
  const calling = outcome((async () => await call(zk, options as never))())
  await connection.expectNothing()
  return calling.error
}

describe.each(calls)('%s', (name, call, known) => {
  test(`${name} refuses options that it does not know, and lists those there are`, async () => {
    const error = await refused(call, { versoin: 0, timeOut: 5 })
    expect(error).toEqual(new TypeError(`${name}: unknown option ${misspelled(known)}; known are ${known}`))
  })

  test.each([
    ['a bare number', 0, /: options must be an object such as \{ .+ \}, not 0$/],
    ['a string', 'x', /: options must be an object such as \{ .+ \}, not string$/],
    ['null', null, /: options must be an object such as \{ .+ \}, not null$/],
    ['a callback', () => {}, / takes no callback: it returns a promise$/],
    ['a bare signal', new AbortController().signal, /: a signal is given as \{ signal \}$/],
    ['a signal that is not an AbortSignal', { signal: 5 }, /^signal must be an AbortSignal$/],
  ])(`${name} refuses %s`, async (_, options, message) => {
    const error = await refused(call, options)
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toHaveProperty('message', expect.stringMatching(message))
  })
})

test.each<[name: string, part: () => unknown, message: string]>([
  [
    'op.create',
    () => op.create('/a', '', { made: 1 } as object),
    'op.create: unknown option made (did you mean mode?); known are mode, acl, ttl',
  ],
  [
    'op.delete',
    () => op.delete('/a', 0 as never),
    'op.delete: options must be an object such as { version: 3 }, not 0',
  ],
  ['op.setData', () => op.setData('/a', '', { v: 1 } as object), 'op.setData: unknown option v; known are version'],
  ['op.check', () => op.check('/a', { v: 1 } as object), 'op.check: unknown option v; known are version'],
])('a multi refuses what %s does not know', async (_, part, message) => {
  expect(await refused((zk) => zk.multi([part() as never]), undefined)).toEqual(new TypeError(message))
})

test.each([
  [
    'multi',
    (zk: ZooKeeper) => zk.multi(op.check('/a') as never),
    "multi takes a list of operations: multi([op.create('/a'), …])",
  ],
  [
    'multiRead',
    (zk: ZooKeeper) => zk.multiRead('/a' as never),
    "multiRead takes a list of operations: multiRead([op.getData('/a'), …])",
  ],
] as const)('%s of what is no list says what it takes', async (_, call, message) => {
  expect(await refused(call, undefined)).toEqual(new TypeError(message))
})
