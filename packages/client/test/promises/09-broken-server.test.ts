// Promise 9: a server that breaks the protocol costs that connection a ProtocolError, and nothing else.
import {
  Create2Response,
  GetChildren2Response,
  GetDataResponse,
  MultiResponse,
  OpCode,
  ProtocolError,
  SyncResponse,
} from '@zk/wire'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { connect, op } from '../../src/index.ts'
import {
  children,
  connected,
  type ConnectedOptions,
  created,
  eventFrame,
  FakeServer,
  handshakeFrame,
  nodeData,
  outcome,
  reconnected,
  replyFrame,
  SeededRandom,
  VirtualWorld,
} from '../support/index.ts'

const T = 30_000
const ascii = new TextEncoder()

/** The bytes of hex digits; spaces may part the fields. */
function hex(digits: string): Uint8Array {
  return Uint8Array.from(Buffer.from(digits.replaceAll(' ', ''), 'hex'))
}

/** A frame around a body. */
function frame(body: Uint8Array): Uint8Array {
  const whole = new Uint8Array(4 + body.byteLength)
  new DataView(whole.buffer).setInt32(0, body.byteLength)
  whole.set(body, 4)
  return whole
}

/** What broke the connection, as reported on the channel. */
async function connectedAndWatched(world: VirtualWorld, options?: ConnectedOptions) {
  const client = await connected(world, options)
  const { signal } = client.zk.session.connection!
  return { ...client, brokenBy: () => signal.reason as unknown }
}

describe('Garbage on a connection', () => {
  test.each<[string, Uint8Array, RegExp]>([
    [
      'a length of 2^31-1 and nothing behind (W02)',
      hex('7fffffff'),
      /a frame of 2147483647 bytes is over the limit of 4194304/,
    ],
    ['a length of -1 (W03)', hex('ffffffff'), /a frame cannot have -1 bytes/],
    ['a length of -2147483648 (W03)', hex('80000000'), /a frame cannot have -2147483648 bytes/],
    ['an empty frame (W05)', hex('00000000'), /0 bytes are left for an int in ReplyHeader.xid/],
    ['a frame of 4 bytes (W05)', hex('00000004 00000001'), /in ReplyHeader.zxid/],
    ['a frame of 15 bytes (W05)', frame(new Uint8Array(15)), /in ReplyHeader.err/],
    [
      'an event with garbage for a body (W13)',
      frame(hex('ffffffff ffffffffffffffff 00000000 0000')),
      /in WatcherEvent.type/,
    ],
    [
      'an event with a path longer than the frame (W13)',
      frame(hex('ffffffff ffffffffffffffff 00000000 00000001 00000003 7fffffff')),
      /WatcherEvent.path/,
    ],
    ['a reply with xid 7 where none is pending (W11)', replyFrame({ xid: 7 }), /a reply with xid 7/],
    [
      'words (W32)',
      ascii.encode('This ZooKeeper instance is not currently serving requests\n'),
      /text in place of a frame: "This ZooKeeper instance is not currently serving requests"/,
    ],
  ])('ZooKeeper answers %s with the end of the connection, and nothing else', async (_, bytes, message) => {
    const world = new VirtualWorld()
    const { zk, server, connection, brokenBy } = await connectedAndWatched(world)
    const { session } = zk
    connection.raw(bytes)
    await world.settle()
    expect(connection.isClosed).toBe(true)
    expect(ProtocolError.is(brokenBy())).toBe(true)
    expect((brokenBy() as Error).message).toMatch(message)
    await world.advance(1_000)
    const second = await server.accept()
    const read = outcome(zk.getData('/a'))
    second.reply(await second.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    expect(read.status).toBe('fulfilled')
    expect(zk.session).toBe(session)
  })

  test('ZooKeeper survives random bytes of 200 seeds, whole and cut into pieces', async () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = new SeededRandom(seed)
      const world = new VirtualWorld(seed)
      const { zk, connection } = await connected(world, { renewSession: false })
      const read = outcome(zk.getData('/a'))
      await connection.expect(OpCode.getData)
      const bytes = Uint8Array.from({ length: 60 }, () => random.below(256))
      // Frames of a length that can be, so that more than the length is looked at.
      const whole = seed % 2 === 0 ? frame(bytes) : bytes
      const cut = random.below(whole.byteLength)
      connection.raw(whole.subarray(0, cut))
      connection.raw(whole.subarray(cut))
      await world.advance((2 * T) / 3)
      expect(connection.isClosed, `seed ${seed}`).toBe(true)
      expect(zk.session.signal.aborted).toBe(false)
      expect(read.status).toBe('pending')
    }
  })
})

describe('Replies that answer nothing', () => {
  test('ZooKeeper delivers nothing of replies in the wrong order: one lost, one repeated (W10)', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection, brokenBy } = await connectedAndWatched(world)
    const write = outcome(zk.create('/a'))
    const read = outcome(zk.getData('/b'))
    const [first, second] = await connection.expectAll(OpCode.create2, OpCode.getData)
    connection.reply(second, GetDataResponse, nodeData('b'))
    connection.reply(first, Create2Response, created('/a'))
    await world.settle()
    expect(brokenBy()).toMatchObject({ message: 'a reply with xid 2, which is not that of the oldest request' })
    expect(write.error).toMatchObject({ code: 'ConnectionLoss', outcomeUnknown: true, cause: brokenBy() })
    expect(read.status).toBe('pending')
    await world.advance(1_000)
    const next = await server.accept()
    const [sync, repeated] = await next.expectAll(OpCode.sync, OpCode.getData)
    next.reply(sync, SyncResponse, { path: '/' })
    next.reply(repeated, GetDataResponse, nodeData('b'))
    await world.settle()
    expect(read.status).toBe('fulfilled')
  })

  test('ZooKeeper takes a second reply to one request for one that answers nothing (W12)', async () => {
    const world = new VirtualWorld()
    const { zk, connection, brokenBy } = await connectedAndWatched(world)
    const first = outcome(zk.getData('/a'))
    const second = outcome(zk.getData('/b'))
    const [request] = await connection.expectAll(OpCode.getData, OpCode.getData)
    connection.reply(request, GetDataResponse, nodeData('a'))
    connection.reply(request, GetDataResponse, nodeData('a'))
    await world.settle()
    expect([first.status, second.status]).toEqual(['fulfilled', 'pending'])
    expect(brokenBy()).toMatchObject({ message: 'a reply with xid 1, which is not that of the oldest request' })
  })
})

describe('Replies that cannot be read', () => {
  /** A listing cut short behind its first `length` bytes, in a frame that says so. */
  const cutListing = (xid: number, length: number) =>
    frame(replyFrame({ xid }, GetChildren2Response, children('one', 'two')).subarray(4, 4 + length))

  test('ZooKeeper.getChildren rejects wherever the body is cut, and the connection is dropped (W06)', async () => {
    const whole = replyFrame({ xid: 1 }, GetChildren2Response, children('one', 'two')).byteLength - 4
    for (let length = 16; length < whole; length++) {
      const world = new VirtualWorld()
      const { zk, connection } = await connected(world)
      const list = outcome(zk.getChildren('/a'))
      const behind = outcome(zk.getData('/b'))
      const [{ xid }] = await connection.expectAll(OpCode.getChildren2, OpCode.getData)
      connection.raw(cutListing(xid, length))
      await world.settle()
      expect(list.error, `${length} bytes`).toMatchObject({
        code: 'InvalidResponse',
        outcomeUnknown: false,
        op: 'getChildren',
      })
      expect(ProtocolError.is((list.error as Error).cause)).toBe(true)
      expect(connection.isClosed).toBe(true)
      expect(behind.status).toBe('pending')
    }
  })

  test.each<[string, string]>([
    ['2^31-1 children (W07)', '7fffffff'],
    ['-2 children (W07)', 'fffffffe'],
    ['null for the children', 'ffffffff'],
    ['a name of -2 bytes (W08)', '00000001 fffffffe'],
    ['a name longer than the frame (W08)', '00000001 7fffffff'],
    ['null for a name', '00000001 ffffffff'],
  ])('ZooKeeper.getChildren rejects a listing with %s', async (_, body) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const list = outcome(zk.getChildren('/a'))
    const { xid } = await connection.expect(OpCode.getChildren2)
    const header = replyFrame({ xid }).subarray(4)
    connection.raw(frame(Uint8Array.from(Buffer.concat([header, hex(body), new Uint8Array(68)]))))
    await world.settle()
    expect(list.error).toMatchObject({ code: 'InvalidResponse' })
    expect(connection.isClosed).toBe(true)
  })

  test.each<[string, (xid: number) => Uint8Array]>([
    [
      'a result of unknown type',
      (xid) => frame(Buffer.concat([replyFrame({ xid }).subarray(4), hex('00000063 00 00000000')])),
    ],
    ['fewer results than operations', (xid) => replyFrame({ xid }, MultiResponse, [])],
    ['no end', (xid) => frame(Buffer.concat([replyFrame({ xid }).subarray(4), hex('0000000d 00 00000000')]))],
    ['a result of another kind', (xid) => replyFrame({ xid }, MultiResponse, [{ type: OpCode.delete, response: {} }])],
  ])('ZooKeeper.multi rejects %s, outcome unknown, and drops the connection (W29)', async (_, reply) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const multi = outcome(zk.multi([op.check('/a')]))
    const { xid } = await connection.expect(OpCode.multi)
    connection.raw(reply(xid))
    await world.settle()
    expect(multi.error).toMatchObject({ code: 'InvalidResponse', outcomeUnknown: true })
    expect(connection.isClosed).toBe(true)
  })

  test('ZooKeeper.getData takes more bytes behind a record: a newer server may have more to say (W09)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const read = outcome(zk.getData('/a'))
    const { xid } = await connection.expect(OpCode.getData)
    const body = replyFrame({ xid }, GetDataResponse, nodeData('x')).subarray(4)
    connection.raw(frame(Uint8Array.from(Buffer.concat([body, hex('00112233')]))))
    await world.settle()
    expect(new TextDecoder().decode(read.value.data)).toBe('x')
  })
})

describe('Replies that are too long', () => {
  test('ZooKeeper rejects only the request whose reply is too large, and keeps the connection (W04)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { maxResponseSize: 10_000 } })
    const list = outcome(zk.getChildren('/many'))
    const read = outcome(zk.getData('/a'))
    const [request, next] = await connection.expectAll(OpCode.getChildren2, OpCode.getData)
    const reply = replyFrame(
      request,
      GetChildren2Response,
      children(...Array.from({ length: 1_000 }, (_, n) => `child${n}`)),
    )
    connection.raw(reply.subarray(0, 20))
    await world.settle()
    expect(list.error).toMatchObject({
      code: 'ResponseTooLarge',
      outcomeUnknown: false,
      op: 'getChildren',
      path: '/many',
    })
    for (let at = 20; at < reply.byteLength; at += 100) connection.raw(reply.subarray(at, at + 100))
    connection.reply(next, GetDataResponse, nodeData('x'))
    await world.settle()
    expect(read.status).toBe('fulfilled')
    await world.advance(10 * T)
    expect(connection.isClosed).toBe(false)
  })

  test('ZooKeeper removes the watch of a read whose reply is too large (W04)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { maxResponseSize: 10_000 } })
    const read = outcome(zk.getDataAndWatch('/a'))
    const request = await connection.expect(OpCode.getData)
    connection.reply(request, GetDataResponse, nodeData('x'.repeat(10_000)))
    await world.settle()
    expect(read.error).toMatchObject({ code: 'ResponseTooLarge' })
    connection.reply(await connection.expect(OpCode.removeWatches))
    await world.settle()
    expect(connection.isClosed).toBe(false)
  })

  test.each([
    ['an event', -1],
    ['a ping', -2],
    ['a reply to no request', 77],
  ])('ZooKeeper hangs up at a frame over the limit that is %s, and repeats the read (W04)', async (_, xid) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { advanced: { maxResponseSize: 10_000 } })
    const read = outcome(zk.getData('/a'))
    await connection.expect(OpCode.getData)
    connection.raw(replyFrame({ xid }, GetDataResponse, nodeData('x'.repeat(10_000))).subarray(0, 20))
    await world.settle()
    expect(connection.isClosed).toBe(true)
    expect(read.status).toBe('pending')
  })

  test('ZooKeeper takes a reply of exactly maxResponseSize (W04)', async () => {
    const world = new VirtualWorld()
    const overhead = replyFrame({ xid: 1 }, GetDataResponse, nodeData('')).byteLength - 4
    const { zk, connection } = await connected(world, { advanced: { maxResponseSize: 10_000 } })
    const read = outcome(zk.getData('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'.repeat(10_000 - overhead)))
    await world.settle()
    expect(read.value.data.byteLength).toBe(10_000 - overhead)
  })
})

describe('A server that breaks the handshake', () => {
  const good = handshakeFrame({ timeOut: T, sessionId: 5n, passwd: new Uint8Array(16), readOnly: false })

  test.each<[string, Uint8Array, RegExp]>([
    ['4 bytes (W16)', frame(new Uint8Array(4)), /cannot be answered with 4 bytes/],
    ['35 bytes (W16)', frame(good.subarray(4, 39)), /in ConnectResponse.passwd/],
    [
      'HTTP (W16)',
      ascii.encode('HTTP/1.1 400 Bad Request\r\n\r\n'),
      /text in place of a frame: "HTTP\/1.1 400 Bad Request"/,
    ],
    ['an alert of TLS (W16)', hex('15030300020246'), /the server speaks TLS on this port; give connect the option tls/],
    [
      'words (W32)',
      ascii.encode('This ZooKeeper instance is not currently serving requests\n'),
      /"This ZooKeeper instance is not currently serving requests"/,
    ],
    [
      'session id 0 (W18)',
      handshakeFrame({ timeOut: T, sessionId: 0n, passwd: null, readOnly: false }),
      /session id 0/,
    ],
    ['a reply header', replyFrame({ xid: 0, err: 'NotReadOnly' }), /the handshake was refused with code -119/],
    ['readOnly', handshakeFrame({ timeOut: T, sessionId: 5n, passwd: null, readOnly: true }), /read-only/],
  ])('connect goes on to the next server after %s', async (_, bytes, message) => {
    const world = new VirtualWorld()
    const connecting = outcome(connect('zk1:2181,zk2:2181', { runtime: world }))
    const servers = ['zk1:2181', 'zk2:2181'].map((address) => FakeServer.listen(world, address))
    const dialed = () => servers.find(({ address }) => address === world.dials.at(-1)!.server)!
    await world.settle()
    const broken = await dialed().connection()
    broken.raw(bytes)
    await world.settle()
    expect(broken.isClosed).toBe(true)
    expect(dialed().address).not.toBe(broken.server)
    await dialed().accept()
    expect(connecting.status).toBe('fulfilled')

    // When every server gives the same reason, the error quotes it.
    const world2 = new VirtualWorld()
    const server = FakeServer.listen(world2, 'zk1:2181')
    const failing = outcome(connect('zk1:2181', { runtime: world2, connectTimeout: 1 }))
    const last = await server.connection()
    last.raw(bytes)
    await world2.advance(1)
    expect((failing.error as Error).message).toMatch(message)
  })

  test.each<[string, Uint8Array | null]>([
    ['null', null],
    ['of 0 bytes', new Uint8Array(0)],
    ['of 400 bytes', new Uint8Array(400).fill(9)],
  ])('connect takes a password %s, and gives it back as it was (W18)', async (_, passwd) => {
    const world = new VirtualWorld()
    const { server, connection } = await connected(world, { handshake: { passwd } })
    connection.rst()
    await world.advance(1_000)
    const second = await server.connection()
    expect((await second.expectConnect()).passwd).toEqual(passwd ?? new Uint8Array(0))
  })

  test('ZooKeeper backs off from a server whose every handshake is garbage (W16)', async () => {
    const world = new VirtualWorld()
    const { server, connection } = await connected(world)
    connection.rst()
    await world.advance(1_000)
    for (let tries = 0; tries < 8; tries++) {
      const next = await server.connection()
      next.raw(hex('ffffffff'))
      await world.settle()
      for (let ms = 0; ms < 10_000 && world.dials.length === tries + 2; ms += 10) await world.advance(10)
    }
    const moments = world.dials.map(({ at }) => at)
    expect(moments.at(-1)! - moments[1]!).toBeGreaterThan(3_000)
  })
})

describe('Bounds', () => {
  test('ZooKeeper accepts 100,000 unexpected events, and misses no reply among them (W30)', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const read = outcome(zk.getData('/a'))
    const request = await connection.expect(OpCode.getData)
    const events = Uint8Array.from(
      Buffer.concat(Array.from({ length: 1_000 }, () => eventFrame('NodeDataChanged', '/unwatched'))),
    )
    for (let round = 0; round < 100; round++) {
      connection.raw(events)
      if (round === 50) connection.reply(request, GetDataResponse, nodeData('x'))
    }
    await world.settle()
    expect(read.status).toBe('fulfilled')
    expect(connection.isClosed).toBe(false)
    const next = await reconnected(world, { server: FakeServer.listen(world, 'zk1:2181'), connection })
    await next.expectNothing()
  })
})

describe('Secrets', () => {
  test('ZooKeeper prints neither password nor credentials, however it is looked at (S26)', async () => {
    const world = new VirtualWorld()
    const passwd = ascii.encode('secret-of-session')
    const { zk, connection } = await connected(world, {
      handshake: { passwd },
      auth: [{ scheme: 'digest', auth: 'user:secret-of-user' }],
    })
    const calls: { error: unknown }[] = [outcome(zk.create('/a')), outcome(zk.addAuth('digest', 'user:secret-of-user'))]
    await world.settle()
    const { session } = zk
    const { connection: standing } = session
    connection.raw(hex('ffffffff'))
    await world.settle()
    outcome(zk.close())
    await world.advance(T)
    const seen = [zk, session, standing, session.signal.reason, ...calls.map(({ error }) => error)]
    for (const each of seen) {
      const text = [inspect(each, { depth: Infinity, showHidden: true }), String(each), textOf(each)].join()
      expect(text).not.toContain('secret')
      expect(text).not.toContain(String([...passwd.subarray(0, 6)]))
      expect(text).not.toContain([...passwd.subarray(0, 6)].join(', '))
    }
    expect(calls.every(({ error }) => error instanceof Error)).toBe(true)
  })

  function textOf(value: unknown): string {
    const plain = (_: string, each: unknown) => (typeof each === 'bigint' ? String(each) : each)
    return JSON.stringify(value, plain) ?? ''
  }
})
