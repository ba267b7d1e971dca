// Promise 2: events and replies settle in the order the server sent them, an event before any reply that shows the
// change.
import {
  Create2Response,
  ErrorResponse,
  ExistsResponse,
  GetChildren2Response,
  GetDataResponse,
  MultiResponse,
  OpCode,
} from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { connect, KeeperError, op, type ZooKeeper } from '../../src/index.ts'
import type { ReceivedRequest } from '../support/requests.ts'
import {
  children,
  connected,
  created,
  eventFrame,
  type FakeConnection,
  FakeServer,
  nodeData,
  outcome,
  replyFrame,
  SeededRandom,
  someStat,
  VirtualWorld,
} from '../support/index.ts'

/** One kind of thing to wait for: how it is called, and what the server says to settle it. */
interface Kind {
  readonly name: string
  readonly call: (zk: ZooKeeper, path: string) => Promise<unknown>
  readonly opCode: Parameters<FakeConnection['expect']>[0]
  readonly answer: (request: ReceivedRequest) => Uint8Array
}

const kinds: readonly Kind[] = [
  {
    name: 'getData',
    call: (zk, path) => zk.getData(path),
    opCode: OpCode.getData,
    answer: ({ xid }) => replyFrame({ xid }, GetDataResponse, nodeData('x')),
  },
  {
    name: 'getData of no node',
    call: (zk, path) => zk.getData(path),
    opCode: OpCode.getData,
    answer: ({ xid }) => replyFrame({ xid, err: 'NoNode' }),
  },
  {
    name: 'getDataAndWatch',
    call: (zk, path) => zk.getDataAndWatch(path),
    opCode: OpCode.getData,
    answer: ({ xid }) => replyFrame({ xid }, GetDataResponse, nodeData('x')),
  },
  {
    name: 'getChildrenAndWatch',
    call: (zk, path) => zk.getChildrenAndWatch(path),
    opCode: OpCode.getChildren2,
    answer: ({ xid }) => replyFrame({ xid }, GetChildren2Response, children('x')),
  },
  {
    name: 'exists',
    call: (zk, path) => zk.exists(path),
    opCode: OpCode.exists,
    answer: ({ xid }) => replyFrame({ xid }, ExistsResponse, { stat: someStat }),
  },
  {
    name: 'watch',
    call: (zk, path) => zk.watch(path),
    opCode: OpCode.addWatch,
    answer: ({ xid }) => replyFrame({ xid }, ErrorResponse, { err: 0 }),
  },
  {
    name: 'existsAndWatch of no node',
    call: (zk, path) => zk.existsAndWatch(path),
    opCode: OpCode.exists,
    answer: ({ xid }) => replyFrame({ xid, err: 'NoNode' }),
  },
  {
    name: 'create',
    call: (zk, path) => zk.create(path),
    opCode: OpCode.create2,
    answer: ({ xid }) => replyFrame({ xid }, Create2Response, created('/x')),
  },
  {
    name: 'delete',
    call: (zk, path) => zk.delete(path),
    opCode: OpCode.delete,
    answer: ({ xid }) => replyFrame({ xid }),
  },
  {
    name: 'sync',
    call: (zk, path) => zk.sync(path),
    opCode: OpCode.sync,
    answer: ({ xid }) => replyFrame({ xid, err: 'Unimplemented' }),
  },
  {
    name: 'multi',
    call: (zk, path) => zk.multi([op.check(path)]),
    opCode: OpCode.multi,
    answer: ({ xid }) => replyFrame({ xid }, MultiResponse, [{ type: OpCode.check, response: {} }]),
  },
  {
    name: 'failed multi',
    call: (zk, path) => zk.multi([op.check(path)]),
    opCode: OpCode.multi,
    answer: ({ xid }) => replyFrame({ xid }, MultiResponse, [{ type: OpCode.error, response: { err: -101 } }]),
  },
]

/** Notes when user code resumes behind its `await`, fulfilled or rejected. */
async function note(log: string[], name: string, promise: Promise<unknown>): Promise<void> {
  try {
    await promise
  } catch {
    // That it resumes is what counts.
  }
  log.push(name)
}

/** Watches `path`, and notes when the code behind `await changed` resumes. */
async function noteChange(
  log: string[],
  { zk, connection }: { zk: ZooKeeper; connection: FakeConnection },
  path: string,
) {
  const read = outcome(zk.getDataAndWatch(path))
  connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
  await connection.expectNothing()
  void note(log, `changed ${path}`, read.value.changed)
}

const cuts: readonly [string, (frames: readonly Uint8Array[]) => Uint8Array[]][] = [
  ['in one piece', (frames) => [Uint8Array.from(Buffer.concat(frames))]],
  ['frame by frame', (frames) => [...frames]],
  ['byte by byte', (frames) => Array.from(Buffer.concat(frames), (byte) => Uint8Array.of(byte))],
]

describe('The code behind an await resumes in the order in which the server spoke', () => {
  test.each(cuts)(
    'ZooKeeper settles all kinds of replies, and events between them, in server order, %s',
    async (_, cut) => {
      const world = new VirtualWorld()
      const { zk, connection } = await connected(world)
      const log: string[] = []
      for (const { name } of kinds) await noteChange(log, { zk, connection }, `/behind ${name}`)
      for (const { name, call } of kinds) void note(log, name, call(zk, '/a'))

      const frames: Uint8Array[] = []
      for (const { opCode, answer, name } of kinds) {
        frames.push(answer(await connection.expect(opCode)), eventFrame('NodeDataChanged', `/behind ${name}`))
      }
      for (const piece of cut(frames)) connection.raw(piece)
      await world.settle()
      expect(log).toEqual(kinds.flatMap(({ name }) => [name, `changed /behind ${name}`]))
    },
  )

  test('ZooKeeper settles random mixes of replies and events in server order', async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const random = new SeededRandom(seed)
      const world = new VirtualWorld(seed)
      const { zk, connection } = await connected(world)
      const log: string[] = []
      const expected: string[] = []
      const events = Array.from({ length: 5 }, (_, index) => `/event${index}`)
      for (const path of events) await noteChange(log, { zk, connection }, path)

      const calls = Array.from({ length: 12 }, () => kinds[random.below(kinds.length)]!)
      for (const [index, { name, call }] of calls.entries()) void note(log, `${index} ${name}`, call(zk, '/a'))
      const frames: Uint8Array[] = []
      for (const [index, { name, opCode, answer }] of calls.entries()) {
        while (events.length > 0 && random.next() < 0.3) {
          const path = events.pop()!
          frames.push(eventFrame('NodeDeleted', path))
          expected.push(`changed ${path}`)
        }
        frames.push(answer(await connection.expect(opCode)))
        expected.push(`${index} ${name}`)
      }
      for (const piece of cuts[random.below(2)]![1](frames)) connection.raw(piece)
      await world.settle()
      expect(log, `seed ${seed}`).toEqual(expected)
    }
  })

  test('ZooKeeper delivers a change before a read that shows it', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const log: string[] = []
    await noteChange(log, { zk, connection }, '/a')
    void note(log, 'getData /a', zk.getData('/a'))
    const read = await connection.expect(OpCode.getData)
    connection.together(() => {
      connection.event('NodeDataChanged', '/a')
      connection.reply(read, GetDataResponse, nodeData('new'))
    })
    await world.settle()
    expect(log).toEqual(['changed /a', 'getData /a'])
  })

  test('NodeEvents.next settles in the order of what the server says, among replies', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const log: string[] = []
    const watching = outcome(zk.watch('/a'))
    connection.reply(await connection.expect(OpCode.addWatch), ErrorResponse, { err: 0 })
    await world.settle()
    for (const index of [1, 2, 3]) void note(log, `event ${index}`, watching.value.next())
    void note(log, 'getData /a', zk.getData('/a'))
    void note(log, 'getData /b', zk.getData('/b'))
    const reads = await connection.expectAll(OpCode.getData, OpCode.getData)
    connection.together(() => {
      connection.event('NodeDataChanged', '/a')
      connection.reply(reads[0], GetDataResponse, nodeData('new'))
      connection.event('NodeDataChanged', '/a')
      connection.event('NodeChildrenChanged', '/a')
      connection.reply(reads[1], GetDataResponse, nodeData('new'))
    })
    await world.settle()
    expect(log).toEqual(['event 1', 'getData /a', 'event 2', 'event 3', 'getData /b'])
  })

  test('ZooKeeper gives the result of a read before the event of its own watch (V03)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const log: string[] = []
    const user = async () => {
      const { data, changed } = await zk.getDataAndWatch('/a')
      log.push(`read ${new TextDecoder().decode(data)}`)
      const { type } = await changed
      log.push(type)
    }
    void user()
    const request = await connection.expect(OpCode.getData)
    connection.together(() => {
      connection.reply(request, GetDataResponse, nodeData('old'))
      connection.event('NodeDataChanged', '/a')
    })
    await world.settle()
    expect(log).toEqual(['read old', 'NodeDataChanged'])
  })

  test('ZooKeeper notifies several waiters of one event in the order of their calls', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const log: string[] = []
    const reads = [
      outcome(zk.getDataAndWatch('/a')),
      outcome(zk.existsAndWatch('/a')),
      outcome(zk.getDataAndWatch('/a')),
    ]
    const [first, second, third] = await connection.expectAll(OpCode.getData, OpCode.exists, OpCode.getData)
    connection.reply(first, GetDataResponse, nodeData('x'))
    connection.reply(second, ExistsResponse, { stat: someStat })
    connection.reply(third, GetDataResponse, nodeData('x'))
    await world.settle()
    for (const [index, { value }] of reads.entries()) void note(log, `${index}`, value.changed)
    connection.event('NodeDataChanged', '/a')
    await world.settle()
    expect(log).toEqual(['0', '1', '2'])
  })

  test('ZooKeeper settles what a lost connection takes along in call order', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const log: string[] = []
    for (const path of ['/a', '/b', '/c']) void note(log, path, zk.create(path))
    await connection.expectAll(OpCode.create2, OpCode.create2, OpCode.create2)
    connection.rst()
    await world.settle()
    expect(log).toEqual(['/a', '/b', '/c'])
  })
})

describe('The one await puts the caller into the stack', () => {
  test.each<[string, (zk: ZooKeeper) => Promise<unknown>, Parameters<FakeConnection['expect']>[0]]>([
    ['create', (zk) => zk.create('/a'), OpCode.create2],
    ['getData', (zk) => zk.getData('/a'), OpCode.getData],
    ['getData with a signal', (zk) => zk.getData('/a', { signal: new AbortController().signal }), OpCode.getData],
    ['getDataAndWatch', (zk) => zk.getDataAndWatch('/a'), OpCode.getData],
    ['multi', (zk) => zk.multi([op.check('/a')]), OpCode.multi],
  ])('KeeperError of %s names the function that awaited it', async (_, call, opCode) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const functionOfTheUser = async () => {
      await call(zk)
    }
    const failed = outcome(functionOfTheUser())
    connection.fail(await connection.expect(opCode), 'NoNode')
    await world.settle()
    expect(KeeperError.is(failed.error, 'NoNode')).toBe(true)
    expect((failed.error as Error).stack).toContain('functionOfTheUser')
  })

  test.each(['KeeperError', 'ConnectError'])('%s of connect names the function that awaited it', async (name) => {
    const world = new VirtualWorld()
    const functionOfTheUser = async () => {
      await connect('zk1:2181', { runtime: world, connectTimeout: 1_000, auth: [{ scheme: 'digest', auth: 'a:b' }] })
    }
    const server = FakeServer.listen(world, 'zk1:2181')
    if (name === 'ConnectError') server.refuse()
    const failed = outcome(functionOfTheUser())
    if (name === 'KeeperError') {
      const connection = await server.accept()
      connection.fail(await connection.expect(OpCode.auth), 'AuthFailed')
    }
    await world.advance(1_000)
    expect(failed.error).toMatchObject({ name })
    expect((failed.error as Error).stack).toContain('functionOfTheUser')
  })
})
