import { OpCode, SyncResponse } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { Touches } from '../src/session/touches.ts'
import { connected, outcome, SeededRandom, VirtualWorld } from './support/index.ts'

const T = 3_200
/** 1/32 of T. */
const SPACING = 100

const at = (now: number) => ({ now, wallNow: now })

describe('Touches', () => {
  test('Touches.answeredBy is the handshake until something is answered', () => {
    const touches = new Touches(at(7), T)
    touches.sent(at(200))
    expect(touches.answeredBy(10_000)).toEqual(at(7))
  })

  test('Touches.answeredBy is the latest that had been answered by then', () => {
    const touches = new Touches(at(0), T)
    touches.sent(at(100))
    touches.sent(at(300))
    touches.answered(300, 350)
    touches.answered(Infinity, 400)
    expect([349, 350, 399, 400].map((now) => touches.answeredBy(now).now)).toEqual([0, 100, 100, 300])
  })

  test('Touches.answered counts nothing that was sent at the moment of the oldest without an answer', () => {
    const touches = new Touches(at(0), T)
    touches.sent(at(100))
    touches.answered(100, 150)
    expect(touches.answeredBy(150).now).toBe(0)
  })

  test('Touches.wants no more than one in 1/32 of T', () => {
    const touches = new Touches(at(0), T)
    expect([SPACING - 1, SPACING].map((now) => touches.wants(now))).toEqual([false, true])
    touches.sent(at(SPACING))
    expect([2 * SPACING - 1, 2 * SPACING].map((now) => touches.wants(now))).toEqual([false, true])
  })

  test('Touches remembers answers for T, and the latest of those before', () => {
    const touches = new Touches(at(0), T)
    for (let now = SPACING; now <= 4 * T; now += SPACING) {
      touches.sent(at(now))
      touches.answered(Infinity, now + 1)
    }
    const last = 4 * T + 1
    for (let ago = 0; ago <= T; ago += SPACING) expect(touches.answeredBy(last - ago).now).toBe(last - 1 - ago)
    // Of what is forgotten it says the handshake, which is earlier.
    expect(touches.answeredBy(last - 2 * T).now).toBe(0)
  })

  test('Touches.answeredBy never says later than what was sent and answered, whatever the order of things', () => {
    for (let seed = 1; seed <= 300; seed++) {
      const random = new SeededRandom(seed)
      const touches = new Touches(at(0), T)
      const open: number[] = []
      const answered: { sent: number; by: number }[] = []
      let now = 0
      for (let step = 0; step < 200; step++) {
        now += random.below(random.below(4) === 0 ? 3 * SPACING : 5)
        if (random.below(2) === 0) {
          open.push(now)
          if (touches.wants(now)) touches.sent(at(now))
        } else {
          // In order, some of them.
          for (let count = random.below(open.length + 1); count > 0; count--) {
            answered.push({ sent: open.shift()!, by: now })
          }
          touches.answered(open[0] ?? Infinity, now)
        }
        const asked = now - random.below(T)
        const truth = Math.max(0, ...answered.filter(({ by }) => by <= asked).map(({ sent }) => sent))
        expect(touches.answeredBy(asked).now).toBeLessThanOrEqual(truth)
      }
    }
  })
})

describe('Connection.touchAnsweredBy', () => {
  test('Connection.touchAnsweredBy is when the latest answered request was sent, and the handshake before', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const touches = zk.session.connection!
    expect(touches.handshakeAt.now).toBe(0)
    await world.advance(2_000)
    void outcome(zk.sync('/'))
    const request = await connection.expect(OpCode.sync)
    await world.advance(50)
    expect(touches.touchAnsweredBy(world.now()).now).toBe(0)
    connection.reply(request, SyncResponse, { path: '/' })
    await world.settle()
    expect(touches.touchAnsweredBy(world.now()).now).toBe(2_000)
    expect(touches.touchAnsweredBy(world.now() - 1).now).toBe(0)
  })

  test('Connection.touchAnsweredBy does not count while credentials are not answered: nobody knows when they were sent', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const touches = zk.session.connection!
    await world.advance(2_000)
    void outcome(zk.addAuth('digest', 'me:secret'))
    const auth = await connection.expect(OpCode.auth)
    void outcome(zk.sync('/'))
    connection.reply(await connection.expect(OpCode.sync), SyncResponse, { path: '/' })
    await world.settle()
    expect(touches.touchAnsweredBy(world.now()).now).toBe(0)
    connection.reply(auth)
    await world.settle()
    expect(touches.touchAnsweredBy(world.now()).now).toBe(2_000)
  })
})
