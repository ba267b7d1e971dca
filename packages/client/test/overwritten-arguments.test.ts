// What a caller passed belongs to the caller again when the call returns: the call means what it said then, also when it waits
// for a connection, is sent again, or goes on with a second request.
import { VirtualWorld } from '@zk/testing'
import { ErrorResponse, OpCode } from '@zk/wire'
import { expect, test } from 'vitest'
import { type CallOptions, connect, KeeperError, op, type WatchOptions, type ZooKeeper } from '../src/index.ts'
import { connected, expired, FakeServer, outcome, VirtualWorld as Wire } from './support/index.ts'
import { plain } from './support/plain.ts'

interface Call {
  readonly name: string
  /** Makes the call, and returns what overwrites its arguments. */
  readonly make: (zk: ZooKeeper) => { readonly call: Promise<unknown>; readonly overwrite: () => void }
}

const bytes = () => Buffer.from('data')
const aclList = () => [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]

/** In place, as deep as it goes. */
function garble(value: unknown): void {
  if (value instanceof Uint8Array) value.fill(33)
  else if (Array.isArray(value)) {
    for (const each of value) garble(each)
    value.length = 0
  } else if (typeof value === 'object' && value !== null) {
    const fields = value as Record<string, unknown>
    for (const [name, each] of Object.entries(fields)) {
      if (typeof each === 'object') garble(each)
      else if (!Object.isFrozen(value)) fields[name] = typeof each === 'number' ? 1 : 'garbled'
    }
  }
}

/** Its getter makes another call, which is encoded in the middle of the one that reads it. */
const aclThatCalls = (zk: ZooKeeper) => [
  {
    perms: 31,
    id: {
      scheme: 'world',
      get id() {
        void zk.exists('/other')
        return 'anyone'
      },
    },
  },
]

test.each<[string, (zk: ZooKeeper) => Promise<unknown>]>([
  ['create', (zk) => zk.create('/new', 'data', { acl: aclThatCalls(zk) })],
  ['setACL', (zk) => zk.setACL('/', aclThatCalls(zk))],
  ['multi', (zk) => zk.multi([op.create('/new', 'data', { acl: aclThatCalls(zk) })])],
])('%s is sent whole where reading its arguments makes another call', async (_, call) => {
  const world = new VirtualWorld()
  await world.run(async () => {
    const zk = await connect(world.connectString, { runtime: world.runtime })
    await call(zk)
    await zk.close()
  })
})

const calling =
  (...given: unknown[]) =>
  (call: Promise<unknown>) => ({ call, overwrite: () => given.forEach(garble) })

const calls: readonly Call[] = [
  {
    name: 'create',
    make: (zk) => {
      const [data, options] = [bytes(), { acl: aclList(), mode: 'EPHEMERAL' as const }]
      return calling(data, options)(zk.create('/new', data, options))
    },
  },
  {
    name: 'create with parents',
    make: (zk) => {
      const [data, options] = [bytes(), { acl: aclList(), parents: { acl: aclList() } }]
      return calling(data, options)(zk.create('/a/b/c', data, options))
    },
  },
  {
    name: 'ensurePath',
    make: (zk) => {
      const options = { acl: aclList() }
      return calling(options)(zk.ensurePath('/a/b/c', options))
    },
  },
  {
    name: 'setData',
    make: (zk) => {
      const [data, options] = [bytes(), { version: 0 }]
      return calling(data, options)(zk.setData('/there', data, options))
    },
  },
  {
    name: 'setACL',
    make: (zk) => {
      const [acl, options] = [aclList(), { version: 0 }]
      return calling(acl, options)(zk.setACL('/there', acl, options))
    },
  },
  {
    name: 'delete',
    make: (zk) => {
      const options = { version: 0 }
      return calling(options)(zk.delete('/there', options))
    },
  },
  {
    name: 'multi',
    make: (zk) => {
      const [data, options, version] = [bytes(), { acl: aclList() }, { version: 0 }]
      const ops = [op.check('/there', version), op.create('/new', data, options), op.setData('/there', data)]
      const call = zk.multi(ops)
      const overwrite = () => {
        garble([data, options, version])
        ops.length = 0
      }
      return { call, overwrite }
    },
  },
  {
    name: 'multiRead',
    make: (zk) => {
      const ops = [op.getData('/there'), op.getChildren('/there')]
      const call = zk.multiRead(ops)
      return { call, overwrite: () => ops.reverse() }
    },
  },
  {
    name: 'addAuth',
    make: (zk) => {
      const auth = Buffer.from('user:secret')
      return calling(auth)(zk.addAuth('digest', auth).then(() => zk.whoAmI()))
    },
  },
]

type Course = (world: VirtualWorld, make: () => void, overwrite: () => void) => Promise<void>

const courses: Readonly<Record<string, Course>> = {
  'in the same turn': async (_, make, overwrite) => {
    make()
    overwrite()
  },
  'while it waits for a connection': async (world, make, overwrite) => {
    world.network.cut()
    world.network.reset()
    await world.elapse(10)
    make()
    overwrite()
    await world.elapse(10)
    world.network.heal()
  },
  'before its connection is lost': async (world, make, overwrite) => {
    world.network.stall('requests')
    make()
    overwrite()
    await world.elapse(10)
    world.network.reset()
    world.network.heal()
  },
}

/** What becomes of the call and of the nodes. */
async function play(call: Call, course: Course, overwrites: boolean): Promise<unknown> {
  const world = new VirtualWorld({ members: 1, release: '3.9' })
  return world.run(async () => {
    const zk = await connect(world.connectString, { runtime: world.runtime })
    await zk.create('/there', 'old')
    let made: ReturnType<Call['make']> | undefined
    let result = outcome<unknown>(Promise.reject(new Error('it was not made')))
    await course(
      world,
      () => {
        made = call.make(zk)
        result = outcome(made.call)
      },
      () => overwrites && made!.overwrite(),
    )
    await world.elapse(5_000)
    const nodes = ['/there', '/new', '/a', '/a/b', '/a/b/c'].map((path) => world.ensemble.nodes.get(path))
    await zk.close()
    const { error } = result
    return JSON.parse(
      JSON.stringify(
        { nodes, status: result.status, value: error ?? result.value, code: KeeperError.is(error) && error.code },
        plain,
      ),
    )
  })
}

test.each(calls.flatMap((call) => Object.keys(courses).map((when) => [call.name, when, call] as const)))(
  '%s is as it was made, when its arguments are overwritten %s',
  async (_, when, call) => {
    const [plainly, overwritten] = [await play(call, courses[when]!, false), await play(call, courses[when]!, true)]
    expect(overwritten).toEqual(plainly)
  },
)

test('ensureContainer that a server does not know is repeated with the ACL of the call', async () => {
  const world = new Wire()
  const { zk, connection } = await connected(world)
  const acl = [{ perms: 1, id: { scheme: 'world', id: 'anyone' } }]
  void outcome(zk.ensureContainer('/a', { acl }))
  const first = await connection.expect(OpCode.createContainer)
  acl[0] = { perms: 31, id: { scheme: 'world', id: 'anyone' } }
  connection.fail(first, 'Unimplemented')
  expect((await connection.expect(OpCode.create2)).body.acl).toMatchObject([{ perms: 1 }])
})

test('a credential of connect is that of the call, also in the next session', async () => {
  const world = new Wire()
  const server = FakeServer.listen(world, 'zk1:2181')
  const auth = Buffer.from('user:secret')
  void outcome(connect('zk1:2181', { runtime: world, auth: [{ scheme: 'digest', auth }] }))
  auth.fill(0)
  const connection = await server.accept()
  await connection.expect(OpCode.auth)
  connection.rst()
  await world.advance(1_000)
  const second = await server.connection()
  await second.expectConnect()
  second.expire()
  second.fin()
  await world.advance(2_000)
  const third = await server.accept()
  expect(Buffer.from((await third.expect(OpCode.auth)).body.auth!).toString()).toBe('user:secret')
  await third.expectNothing()
})

test('watch is renewed in the next session, where its options are pinned to a session after the call', async () => {
  const world = new Wire()
  const { zk, server, connection } = await connected(world)
  const options: WatchOptions & CallOptions = {}
  const opening = outcome(zk.watch('/a', options))
  connection.reply(await connection.expect(OpCode.addWatch), ErrorResponse, { err: 0 })
  await world.settle()
  options.session = zk.session
  const next = outcome(opening.value.next())
  await expired(world, { server, connection })
  await world.advance(2_000)
  const third = await server.accept()
  third.reply(await third.expect(OpCode.addWatch), ErrorResponse, { err: 0 })
  await world.settle()
  expect(next.value.value).toMatchObject({ type: 'Gap', cause: 'renewed' })
})
