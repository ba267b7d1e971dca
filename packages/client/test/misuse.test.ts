// Arguments that cannot be right: the promise is rejected, and neither the server nor the client has changed.
import { GetDataResponse, OpCode } from '@zk/wire'
import { expect, test } from 'vitest'
import {
  deleteRecursive,
  type Op,
  op,
  type ReadOp,
  type Session,
  type VersionOptions,
  type ZooKeeper,
} from '../src/index.ts'
import type { RemovableWatches } from '../src/operations/remove-watches.ts'
import { connected, nodeData, outcome, reconnected, VirtualWorld } from './support/index.ts'

type Call = (zk: ZooKeeper) => Promise<unknown>

/** Every method that takes a path, with the path and the options given. */
const methods: Record<string, (zk: ZooKeeper, path: string, options: object) => Promise<unknown>> = {
  create: (zk, path, options) => zk.create(path, '', options),
  delete: (zk, path, options) => zk.delete(path, options),
  exists: (zk, path, options) => zk.exists(path, options),
  existsAndWatch: (zk, path, options) => zk.existsAndWatch(path, options),
  getData: (zk, path, options) => zk.getData(path, options),
  getDataAndWatch: (zk, path, options) => zk.getDataAndWatch(path, options),
  setData: (zk, path, options) => zk.setData(path, '', options),
  getChildren: (zk, path, options) => zk.getChildren(path, options),
  getChildrenAndWatch: (zk, path, options) => zk.getChildrenAndWatch(path, options),
  getACL: (zk, path, options) => zk.getACL(path, options),
  setACL: (zk, path, options) => zk.setACL(path, [{ perms: 1, id: { scheme: 'world', id: 'anyone' } }], options),
  sync: (zk, path, options) => zk.sync(path, options),
  multi: (zk, path, options) => zk.multi([op.check(path)], options),
  multiRead: (zk, path, options) => zk.multiRead([op.getData(path)], options),
  getEphemerals: (zk, path, options) => zk.getEphemerals(path ?? null, options),
  getAllChildrenNumber: (zk, path, options) => zk.getAllChildrenNumber(path, options),
  checkWatches: (zk, path, options) => zk.checkWatches(path, 'Any', options),
  removeWatches: (zk, path, options) => zk.removeWatches(path, 'Any', options),
  ensureContainer: (zk, path, options) => zk.ensureContainer(path, options),
  ensurePath: (zk, path, options) => zk.ensurePath(path, options),
}

async function expectRefusal(call: Call, error: new () => Error): Promise<void> {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const refused = outcome(call(zk))
  await connection.expectNothing()
  expect(refused.error).toBeInstanceOf(error)
}

test.each(Object.entries(methods))(
  'ZooKeeper.%s rejects a path that cannot be one, and sends nothing',
  async (_, call) => {
    for (const path of ['', 'relative', '/a//b', undefined as unknown as string]) {
      await expectRefusal((zk) => call(zk, path, {}), TypeError)
    }
  },
)

test.each(Object.entries(methods))(
  'ZooKeeper.%s rejects a timeout that is none, and sends nothing',
  async (_, call) => {
    for (const timeout of [-1, NaN, '5']) await expectRefusal((zk) => call(zk, '/a', { timeout }), RangeError)
  },
)

test.each(Object.entries(methods).filter(([name]) => name !== 'removeWatches'))(
  'ZooKeeper.%s rejects a signal that is not an AbortSignal, and sends nothing',
  async (_, call) => {
    await expectRefusal((zk) => call(zk, '/a', { signal: {} }), TypeError)
  },
)

test.each<[string, Call, new () => Error]>([
  ['addAuth without a scheme', (zk) => zk.addAuth('', 'a:b'), TypeError],
  ['addAuth of no bytes', (zk) => zk.addAuth('digest', undefined as unknown as string), TypeError],
  ['addAuth with a timeout that is none', (zk) => zk.addAuth('digest', 'a:b', { timeout: -1 }), RangeError],
  ['setData without data', (zk) => zk.setData('/a', undefined as unknown as string), TypeError],
  ['create of a mode with a TTL, without one', (zk) => zk.create('/a', '', { mode: 'PERSISTENT_WITH_TTL' }), TypeError],
  ['create of a mode without a TTL, with one', (zk) => zk.create('/a', '', { ttl: 5 }), TypeError],
  [
    'create with parents that are none',
    (zk) => zk.create('/a', '', { parents: 'yes' as unknown as boolean }),
    TypeError,
  ],
  ['create with parents without an ACL', (zk) => zk.create('/a/b', '', { parents: { acl: [] } }), TypeError],
  [
    'watch with a repeatThrottled that is none',
    (zk) => zk.watch('/a', { repeatThrottled: 'no' as unknown as boolean }),
    TypeError,
  ],
  [
    'deleteRecursive with an onProgress that is none',
    (zk) => deleteRecursive(zk, '/a', { onProgress: true as unknown as () => void }),
    TypeError,
  ],
  ['whoAmI with a timeout that is none', (zk) => zk.whoAmI({ timeout: -1 }), RangeError],
  ['getConfig with a timeout that is none', (zk) => zk.getConfig({ timeout: -1 }), RangeError],
  ['multi with a read', (zk) => zk.multi([op.getData('/a') as unknown as Op<void>]), TypeError],
  ['multiRead with a write', (zk) => zk.multiRead([op.check('/a') as unknown as ReadOp<void>]), TypeError],
  ['multiRead of no list', (zk) => zk.multiRead(undefined as unknown as []), TypeError],
  ['checkWatches of a type that is none', (zk) => zk.checkWatches('/a', 'All' as RemovableWatches), TypeError],
  ['reconfig of nothing', (zk) => zk.reconfig({}), TypeError],
  ['reconfig in two ways', (zk) => zk.reconfig({ members: ['server.1=a:1:2'], leaving: [2] }), TypeError],
  ['reconfig without a server', (zk) => zk.reconfig({ joining: [] }), TypeError],
  ['reconfig with a server that is none', (zk) => zk.reconfig({ joining: ['zk4:2181'] }), TypeError],
  ['reconfig with an id that is none', (zk) => zk.reconfig({ leaving: [1.5] }), TypeError],
  ['reconfig from a version that is none', (zk) => zk.reconfig({ leaving: [1], fromConfig: -2n }), RangeError],
  [
    'exists in a session that is none',
    (zk) => zk.exists('/a', { session: { id: 5n } as unknown as Session }),
    TypeError,
  ],
  ['delete with a bare version', (zk) => zk.delete('/a', 3 as VersionOptions), TypeError],
  ['setData with a bare version', (zk) => zk.setData('/a', '', 3 as VersionOptions), TypeError],
  ['multi with a bare version', (zk) => zk.multi([op.check('/a', 3 as VersionOptions)]), TypeError],
  ['multi of no list', (zk) => zk.multi(undefined as unknown as []), TypeError],
  [
    'multi with one wrong operation',
    (zk) => zk.multi([op.check('/a'), op.delete('/a', { version: 2 ** 31 })]),
    RangeError,
  ],
])('ZooKeeper.%s is rejected, and nothing is sent', (_, call, error) => expectRefusal(call, error))

test('ZooKeeper.removeWatches that is refused leaves the watches as they are', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  const reading = outcome(zk.getDataAndWatch('/a'))
  connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
  await world.settle()
  const changed = outcome(reading.value.changed)

  const [type, timeout] = [
    outcome(zk.removeWatches('/a', 'Everything' as RemovableWatches)),
    outcome(zk.removeWatches('/a', 'Any', { timeout: -1 })),
  ]
  await connection.expectNothing()
  expect([type.error, timeout.error]).toEqual([expect.any(TypeError), expect.any(RangeError)])
  expect(changed.status).toBe('pending')
  connection.event('NodeDataChanged', '/a')
  await world.settle()
  expect(changed.value).toEqual({ type: 'NodeDataChanged', path: '/a' })
})

test('ZooKeeper.addAuth keeps a copy: a secret that its caller wipes is still known on the next connection', async () => {
  const world = new VirtualWorld()
  const { zk, server, connection } = await connected(world)
  const secret = Buffer.from('alice:secret')
  const adding = outcome(zk.addAuth('digest', secret))
  connection.reply(await connection.expect(OpCode.auth))
  await world.settle()
  expect(adding.status).toBe('fulfilled')
  secret.fill(0)

  const second = await reconnected(world, { server, connection })
  const { body } = await second.expect(OpCode.auth)
  expect(new TextDecoder().decode(body.auth)).toBe('alice:secret')
})
