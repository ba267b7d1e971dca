// Faults of the wire, as a user meets them: those of our catalogue (W) that no promise has its test for.
import { Create2Response, ExistsResponse, GetChildren2Response, GetDataResponse, OpCode, ProtocolError } from '@zk/wire'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { op, systemRuntime } from '../../src/index.ts'
import {
  children,
  connected,
  created,
  eventFrame,
  nodeData,
  outcome,
  reconnected,
  replyFrame,
  someStat,
  VirtualWorld,
} from '../support/index.ts'

const T = 30_000

const joined = (...parts: Uint8Array[]) => Uint8Array.from(Buffer.concat(parts))
const hex = (digits: string) => Uint8Array.from(Buffer.from(digits.replaceAll(' ', ''), 'hex'))

/** A frame around a body. */
function frame(...parts: Uint8Array[]): Uint8Array {
  const body = joined(...parts)
  const length = new Uint8Array(4)
  new DataView(length.buffer).setInt32(0, body.byteLength)
  return joined(length, body)
}

/** The header of a reply, without the length of its frame. */
const header = (xid: number) => replyFrame({ xid }).subarray(4)

describe('However the bytes come', () => {
  /** Replies with an event among them, in these chunks; what became of the calls. */
  async function seen(cut: (stream: Uint8Array) => readonly Uint8Array[]) {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const read = outcome(zk.getDataAndWatch('/a'))
    const calls = [outcome(zk.getChildren('/a')), outcome(zk.create('/b')), outcome(zk.exists('/c'))]
    await connection.expectAll(OpCode.getData, OpCode.getChildren2, OpCode.create2, OpCode.exists)
    const stream = joined(
      replyFrame({ xid: 1 }, GetDataResponse, nodeData('x')),
      eventFrame('NodeDataChanged', '/a'),
      replyFrame({ xid: 2 }, GetChildren2Response, children('one', 'two')),
      replyFrame({ xid: 3 }, Create2Response, created('/b')),
      replyFrame({ xid: 4, err: 'NoAuth' }),
    )
    for (const chunk of cut(stream)) connection.raw(chunk)
    await world.settle()
    expect(connection.isClosed).toBe(false)
    const { data, changed } = read.value
    const [list, made, refused] = calls
    const notified = { data, changed: await changed, list: list!.value, made: made!.value, refused: refused!.error }
    return { notified, size: stream.byteLength }
  }

  test('ZooKeeper sees the same in frames of one chunk, byte by byte, and cut at every position (W01)', async () => {
    const whole = await seen((stream) => [stream])
    expect(whole.notified).toMatchObject({
      data: hex('78'),
      changed: { type: 'NodeDataChanged', path: '/a' },
      list: { children: ['one', 'two'] },
      made: { path: '/b' },
      refused: { code: 'NoAuth', path: '/c' },
    })
    const bytes = await seen((stream) => Array.from(stream, (byte) => Uint8Array.of(byte)))
    expect(bytes).toEqual(whole)
    for (let at = 1; at < whole.size; at++) {
      const two = await seen((stream) => [stream.subarray(0, at), stream.subarray(at)])
      expect(two, `cut at byte ${at}`).toEqual(whole)
    }
  })

  test('ZooKeeper allocates nothing for a frame of 2 GiB that is announced and does not come (W02)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { maxResponseSize: 2 ** 31 - 1 } })
    const before = process.memoryUsage().arrayBuffers
    connection.raw(hex('7fffffff'))
    await world.settle()
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1024 * 1024)
    // Within the limit it may come yet: it has the time of every frame.
    expect(zk.session.connection).toBeDefined()
    await world.advance((2 * T) / 3)
    expect(connection.isClosed).toBe(true)
  })
})

describe('Replies that are too long, or cannot be read', () => {
  test('ZooKeeper says of writes that their outcome is unknown when the reply of the first is too long (W04)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { maxResponseSize: 10_000 } })
    const writes = [outcome(zk.multi([op.create('/a')])), outcome(zk.create('/b'))]
    const [multi] = await connection.expectAll(OpCode.multi, OpCode.create2)
    connection.raw(joined(hex('00002711'), replyFrame({ xid: multi.xid }).subarray(4)))
    await world.settle()
    expect(writes[1]!.status).toBe('pending')
    connection.fin()
    await world.settle()
    expect(writes[0]!.error).toMatchObject({ code: 'ResponseTooLarge', op: 'multi', outcomeUnknown: true })
    expect(writes[1]!.error).toMatchObject({ code: 'ConnectionLoss', op: 'create', outcomeUnknown: true })
  })

  test.each([
    ['-2 bytes', 'fffffffe', 'a buffer cannot have -2 bytes'],
    ['more bytes than the frame has', '00001000', 'bytes are left for a buffer of 4096 bytes'],
    ['2^31-1 bytes', '7fffffff', 'bytes are left for a buffer of 2147483647 bytes'],
  ])('ZooKeeper.getData rejects data of %s, and drops the connection (W08)', async (_, length, message) => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const [read, behind] = [outcome(zk.getData('/a')), outcome(zk.getData('/b'))]
    const [{ xid }] = await connection.expectAll(OpCode.getData, OpCode.getData)
    connection.raw(frame(header(xid), hex(length), new Uint8Array(100)))
    await world.settle()
    expect(read.error).toMatchObject({ code: 'InvalidResponse', op: 'getData', path: '/a', outcomeUnknown: false })
    expect(ProtocolError.is((read.error as Error).cause)).toBe(true)
    expect((read.error as Error & { cause: Error }).cause.message).toContain(message)
    expect(connection.isClosed).toBe(true)
    const second = await reconnected(world, { server, connection })
    second.reply(await second.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    expect(behind.status).toBe('fulfilled')
  })
})

describe('Unexpected packets', () => {
  test('ZooKeeper ignores a ping reply before it has pinged, but counts it as received (W15)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { sessionTimeout: T })
    connection.answersPings = false
    await world.advance(T / 6)
    connection.raw(replyFrame({ xid: -2, zxid: 0n }))
    await world.settle()
    expect(connection.heartbeats).toEqual([])
    expect(zk.session.anomalies).toBe(0)
    // Silence counts from then.
    await world.advance((2 * T) / 3 - 1)
    expect(connection.isClosed).toBe(false)
    await world.advance(1)
    expect(connection.isClosed).toBe(true)
  })
})

describe('Timeouts that no timer keeps', () => {
  test.each([
    ['longer than timers are', 2 ** 31, 2 ** 31 - 1],
    ['in the past', -5, 0],
    ['of a fraction', 0.3, 1],
  ])('systemRuntime.setTimer makes a delay %s one that timers keep (W19)', (_, delay, ms) => {
    const set = vi.spyOn(globalThis, 'setTimeout')
    onTestFinished(() => set.mockRestore())
    const cancel = systemRuntime.setTimer(delay, () => {})
    cancel()
    expect(set.mock.calls.map(([, given]) => given)).toEqual([ms])
  })

  test('ZooKeeper is pinged for, and kept, every 2^31-1 / 3 ms where a server grants so long a timeout (W19)', async () => {
    const world = new VirtualWorld()
    const { connection } = await connected(world, { handshake: { timeOut: 2 ** 31 - 1 } })
    await world.advance(2 ** 31 + 10)
    expect(connection.heartbeats).toEqual([1, 2, 3].map((times) => times * Math.ceil((2 ** 31 - 1) / 3)))
    expect(connection.isClosed).toBe(false)
  })
})

describe('Text that is no text', () => {
  const lone = '\ud800'

  test.each(['/\u{1f512}', `/${lone}`])('ZooKeeper refuses the path %j, and sends nothing (W27)', async (path) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const refused: { readonly error: unknown }[] = [
      outcome(zk.create(path)),
      outcome(zk.getData(path)),
      outcome(zk.multi([op.check(path)])),
      outcome(zk.watch(path)),
    ]
    await connection.expectNothing()
    for (const { error } of refused) expect(error).toBeInstanceOf(TypeError)
  })

  test('ZooKeeper sends a lone surrogate in other strings as U+FFFD, in standard UTF-8 (W27)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    void outcome(zk.create('/a', lone, { acl: [{ perms: 31, id: { scheme: 'digest', id: `u${lone}` } }] }))
    const { body } = await connection.expect(OpCode.create2)
    expect(body.acl![0]!.id.id).toBe('u\ufffd')
    expect(body.data).toEqual(hex('efbfbd'))
  })
})

describe('An old server', () => {
  test('ZooKeeper.watch gets Unimplemented, once, from a server that knows no addWatch and hangs up (W31)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const [before, watch, behind] = [outcome(zk.exists('/a')), outcome(zk.watch('/b')), outcome(zk.exists('/c'))]
    const [, addWatch] = await connection.expectAll(OpCode.exists, OpCode.addWatch, OpCode.exists)
    connection.fail(addWatch, 'Unimplemented', -1n)
    connection.fin()
    await world.settle()
    expect(watch.error).toMatchObject({ code: 'Unimplemented', op: 'watch', path: '/b', outcomeUnknown: false })
    expect((watch.error as Error).message).toContain('from 3.6.0 on')
    const second = await reconnected(world, { server, connection })
    for (const request of await second.expectAll(OpCode.exists, OpCode.exists)) {
      second.reply(request, ExistsResponse, { stat: someStat })
    }
    await second.expectNothing()
    expect([before.status, behind.status]).toEqual(['fulfilled', 'fulfilled'])
  })
})
