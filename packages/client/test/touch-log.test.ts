import { OpCode, SyncResponse } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { TouchLog } from '../src/session/protocol/touch-log.ts'
import { connected, outcome, SeededRandom, VirtualWorld } from './support/index.ts'
import { internalsOf } from '../src/session/session-internals.ts'

const T = 3_200
/** 1/32 of T. */
const SPACING = 100

const at = (now: number) => ({ now, wallNow: now })

describe('TouchLog', () => {
  test('TouchLog.answeredBy is the handshake until two touches are answered', () => {
    const log = new TouchLog(at(7), T)
    log.sent(at(200), 2)
    expect(log.answeredBy(10_000)).toEqual(at(7))
    log.answered(Infinity, 210)
    expect([209, 210].map((now) => log.answeredBy(now))).toEqual([at(7), at(200)])
  })

  test('TouchLog.answeredBy is the earlier of the last two that had been answered by then', () => {
    const log = new TouchLog(at(0), T)
    for (const now of [100, 300, 500]) log.sent(at(now))
    log.answered(300, 350)
    log.answered(500, 400)
    log.answered(Infinity, 600)
    expect([349, 350, 399, 400, 599, 600].map((now) => log.answeredBy(now).now)).toEqual([0, 0, 0, 100, 100, 300])
  })

  test('TouchLog.answered counts nothing that was sent at the moment of the oldest without an answer', () => {
    const log = new TouchLog(at(0), T)
    log.sent(at(100), 2)
    log.answered(100, 150)
    expect(log.answeredBy(150).now).toBe(0)
  })

  test('TouchLog.wants no more than two in 1/32 of T', () => {
    const log = new TouchLog(at(0), T)
    log.sent(at(SPACING))
    expect(log.wants(SPACING)).toBe(true)
    log.sent(at(SPACING + 10))
    expect([2 * SPACING - 1, 2 * SPACING].map((now) => log.wants(now))).toEqual([false, true])
    log.sent(at(2 * SPACING), 2)
    expect([3 * SPACING - 1, 3 * SPACING].map((now) => log.wants(now))).toEqual([false, true])
  })

  test('TouchLog remembers answers for T, and the last two of those before', () => {
    const log = new TouchLog(at(0), T)
    for (let now = SPACING; now <= 4 * T; now += SPACING) {
      log.sent(at(now))
      log.answered(Infinity, now + 1)
    }
    const last = 4 * T + 1
    for (let ago = 0; ago <= T; ago += SPACING) expect(log.answeredBy(last - ago).now).toBe(last - 1 - ago - SPACING)
    // For a dropped touch it returns the handshake, which is earlier.
    expect(log.answeredBy(last - 2 * T).now).toBe(0)
  })

  test('TouchLog.answeredBy never says later than the last but one that was sent and answered, whatever the order of things', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = new SeededRandom(seed)
      const log = new TouchLog(at(0), T)
      const open: number[] = []
      const answered: { sent: number; by: number }[] = []
      let now = 0
      for (let step = 0; step < 200; step++) {
        now += random.below(random.below(4) === 0 ? 3 * SPACING : 5)
        if (random.below(2) === 0) {
          const count = 1 + random.below(3)
          for (let sent = 0; sent < count; sent++) open.push(now)
          if (log.wants(now)) log.sent(at(now), count)
        } else {
          // In order, some of them.
          for (let count = random.below(open.length + 1); count > 0; count--) {
            answered.push({ sent: open.shift()!, by: now })
          }
          log.answered(open[0] ?? Infinity, now)
        }
        const asked = now - random.below(T)
        const truth = answered.filter(({ by }) => by <= asked).at(-2)?.sent ?? 0
        expect(log.answeredBy(asked).now).toBeLessThanOrEqual(truth)
      }
    }
  })
})

describe('Connection.touchAnsweredBy', () => {
  test('Connection.touchAnsweredBy is when the last but one answered request was sent, and the handshake before', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const touches = internalsOf(zk.session).connection!
    const sync = async () => {
      void outcome(zk.sync('/'))
      const request = await connection.expect(OpCode.sync)
      await world.advance(50)
      connection.reply(request, SyncResponse, { path: '/' })
      await world.settle()
    }
    expect(touches.handshakeAt.now).toBe(0)
    await world.advance(2_000)
    await sync()
    expect(touches.touchAnsweredBy(world.now()).now).toBe(0)
    await world.advance(1_000)
    await sync()
    expect(touches.touchAnsweredBy(world.now()).now).toBe(2_000)
    expect(touches.touchAnsweredBy(world.now() - 1).now).toBe(0)
  })

  test('Connection.touchAnsweredBy is as exact as leases of the shortest timeout need', async () => {
    const world = new VirtualWorld()
    const passwd = new Uint8Array(16).fill(1)
    const session = { id: 0x2an, passwd, shortestTimeout: 3_200 }
    const { zk, connection } = await connected(world, { session, handshake: { passwd, timeOut: 32_000 } })
    for (let count = 0; count < 3; count++) {
      await world.advance(200)
      void outcome(zk.sync('/'))
      connection.reply(await connection.expect(OpCode.sync), SyncResponse, { path: '/' })
      await world.settle()
    }
    expect(internalsOf(zk.session).connection!.touchAnsweredBy(world.now()).now).toBe(400)
  })

  test('Connection.touchAnsweredBy counts both pings of a heartbeat', async () => {
    const world = new VirtualWorld()
    const { zk } = await connected(world, { sessionTimeout: 30_000 })
    await world.advance(10_000)
    expect(internalsOf(zk.session).connection!.touchAnsweredBy(world.now()).now).toBe(10_000)
  })

  test.each([
    ['pings, then a request', [10_000, 12_000]],
    ['a request, then pings', [8_000, 10_000]],
  ])(
    'Connection.touchAnsweredBy counts neither of %s, both unanswered, whatever else comes',
    async (_, [first, second]) => {
      const world = new VirtualWorld()
      const { zk, connection } = await connected(world, { sessionTimeout: 30_000 })
      connection.answersPings = false
      const touches = internalsOf(zk.session).connection!
      const requestAt = first === 10_000 ? second! : first!
      await world.advance(requestAt)
      void outcome(zk.exists('/a'))
      await world.advance(13_000 - requestAt)
      // A frame that answers neither.
      connection.event('NodeCreated', '/b')
      await world.settle()
      expect(touches.touchAnsweredBy(world.now()).now).toBe(0)
    },
  )

  test('Connection.touchAnsweredBy does not count credentials: servers answer them without touching the session', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const touches = internalsOf(zk.session).connection!
    await world.advance(2_000)
    for (const auth of ['me:secret', 'you:secret', 'us:secret']) {
      void outcome(zk.addAuth('digest', auth))
      connection.reply(await connection.expect(OpCode.auth))
    }
    await world.settle()
    expect(touches.touchAnsweredBy(world.now()).now).toBe(0)
  })

  test('Connection.touchAnsweredBy counts requests while credentials are not answered', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const touches = internalsOf(zk.session).connection!
    await world.advance(2_000)
    void outcome(zk.addAuth('digest', 'me:secret'))
    await connection.expect(OpCode.auth)
    for (let count = 0; count < 2; count++) {
      void outcome(zk.sync('/'))
      connection.reply(await connection.expect(OpCode.sync), SyncResponse, { path: '/' })
    }
    await world.settle()
    expect(touches.touchAnsweredBy(world.now()).now).toBe(2_000)
  })
})
