import { type Runtime } from '@zk/client'
import { elapsedSince, timestamp } from '@zk/client/internal'
import { describe, expect, test } from 'vitest'
import { Lease } from '../../src/lease/lease.ts'
import { leaseTimes } from '../../src/lease/lease.ts'
import { VirtualWorld } from '../support/outside.ts'

const HOUR = 3_600_000

function leased(length: number): { world: VirtualWorld; lease: Lease } {
  const world = new VirtualWorld()
  return { world, lease: new Lease(world, timestamp(world), () => length) }
}

describe('Lease', () => {
  test('Lease runs for its length from then on', () => {
    const { world, lease } = leased(100)
    world.stall(60)
    expect(lease.remaining).toBe(40)
    world.stall(40)
    expect(lease.remaining).toBe(0)
  })

  test('Lease goes by the clock on the wall where the other stood still in a suspend (S24)', () => {
    const { world, lease } = leased(100)
    world.setWallClock(99)
    expect(lease.remaining).toBe(1)
    world.setWallClock(HOUR)
    expect(lease.remaining).toBe(1 - HOUR)
  })

  test('Lease goes by the other clock where that on the wall was set back (S24)', () => {
    const { world, lease } = leased(100)
    world.setWallClock(-HOUR)
    expect(lease.remaining).toBe(100)
    world.stall(60)
    expect(lease.remaining).toBe(40)
  })

  test('Lease.renew makes it longer, never shorter', () => {
    const { world, lease } = leased(100)
    world.stall(50)
    const later = timestamp(world)
    lease.renew(later, () => 100)
    expect(lease.remaining).toBe(100)
    lease.renew(later, () => 20)
    expect(lease.remaining).toBe(100)
  })

  test('Lease.renew brings nothing back that is over', () => {
    const { world, lease } = leased(100)
    world.stall(100)
    lease.renew(timestamp(world), () => 100)
    expect(lease.remaining).toBe(0)
  })

  test('Lease is shorter as soon as the session timeout is (S17)', () => {
    const world = new VirtualWorld()
    let timeout = 100
    const lease = new Lease(world, timestamp(world), () => timeout)
    timeout = 30
    expect(lease.remaining).toBe(30)
  })

  test('elapsedSince says the longer of two clocks', () => {
    let now = 0
    let wallNow = 0
    const runtime = { now: () => now, wallNow: () => wallNow } as Runtime
    const moment = timestamp(runtime)
    now = 3
    wallNow = 5
    expect(elapsedSince(runtime, moment)).toBe(5)
    now = 7
    expect(elapsedSince(runtime, moment)).toBe(7)
  })
})

describe('leaseTimes', () => {
  const timeouts = [1_000, 2_000, 4_000, 6_000, 30_000, 40_000]

  test.each(timeouts)('leaseTimes of T = %i end a lease before the leader may end the session', (T) => {
    expect(leaseTimes.proven(T)).toBeLessThan(T)
    // The leader asks every half tick, and T is two ticks at least.
    expect(leaseTimes.relay(T)).toBeGreaterThan(T / 4)
  })

  test.each(timeouts)('leaseTimes of T = %i leave time for two more rounds, whatever the follower relay delay', (T) => {
    for (const relay of [0, 10, T / 6, leaseTimes.relay(T), T * 0.4, leaseTimes.longestRelay(T)]) {
      const pause = leaseTimes.pause(T, relay)
      expect(pause).toBeGreaterThanOrEqual(T / 6)
      // The proof is from one relay delay earlier, or from the round before that.
      const oldest = Math.ceil(relay / pause) * pause
      expect(leaseTimes.proven(T) - oldest - pause).toBeGreaterThan(T / 8)
    }
    expect(leaseTimes.recent(T)).toBeGreaterThan(leaseTimes.round(T) + leaseTimes.shortestPause(T))
  })
})
