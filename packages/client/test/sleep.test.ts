import { getEventListeners } from 'node:events'
import { VirtualWorld as EnsembleWorld } from '@zk/testing'
import { describe, expect, test } from 'vitest'
import { sleep, systemRuntime } from '../src/index.ts'
import { outcome, VirtualWorld } from './support/index.ts'

describe('sleep', () => {
  test('sleep resolves when the time has passed on the clock of the runtime, and not before', async () => {
    const world = new VirtualWorld()
    const sleeping = outcome(sleep(world, 60_000))
    await world.advance(59_999)
    expect(sleeping.status).toBe('pending')
    await world.advance(1)
    expect(sleeping.status).toBe('fulfilled')
    expect(world.timers).toBe(0)
  })

  test('sleep of an hour takes no time in a virtual world', async () => {
    const world = new EnsembleWorld({ members: 1 })
    const elapsed = await world.run(async () => {
      const from = world.now
      await sleep(world.runtime, 3_000_000)
      return world.now - from
    })
    expect(elapsed).toBe(3_000_000)
  })

  test('sleep on the system runtime resolves, and never early', async () => {
    const from = systemRuntime.now()
    await sleep(systemRuntime, 5)
    await sleep(systemRuntime, 0)
    expect(systemRuntime.now() - from).toBeGreaterThanOrEqual(5)
  })

  test('sleep goes on if its timer fires early', async () => {
    const world = new VirtualWorld()
    const early = { now: () => world.now(), setTimer: (ms: number, call: () => void) => world.setTimer(ms / 2, call) }
    const sleeping = outcome(sleep(early, 1_000))
    await world.advance(999)
    expect(sleeping.status).toBe('pending')
    await world.advance(2)
    expect(sleeping.status).toBe('fulfilled')
  })

  test('sleep rejects with the reason of its signal, and leaves no timer and no listener', async () => {
    const world = new VirtualWorld()
    const stopping = new AbortController()
    const { signal } = stopping
    const sleeping = [outcome(sleep(world, 60_000, { signal })), outcome(sleep(world, Infinity, { signal }))]
    await world.advance(1_000)
    const reason = new Error('enough')
    stopping.abort(reason)
    await world.settle()
    expect(sleeping.map(({ error }) => error)).toEqual([reason, reason])
    await expect(sleep(world, 1_000, { signal })).rejects.toBe(reason)
    expect(world.timers).toBe(0)
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test.each([
    [() => sleep(1_000 as never, undefined as never), 'the first argument must be a runtime, such as zk.runtime'],
    [() => sleep(systemRuntime, undefined as never), 'the second argument must be a number of ms'],
    [() => sleep(systemRuntime, -1), 'ms must be a number of ms, 0 or more, not -1'],
    [() => sleep(systemRuntime, NaN), 'ms must be a number of ms, 0 or more, not NaN'],
    [() => sleep(systemRuntime, 1, { timeout: 5 } as never), 'sleep: unknown option timeout; known are signal'],
    [() => sleep(systemRuntime, 1, new AbortController().signal as never), 'sleep: a signal is given as { signal }'],
  ])('sleep rejects a wrong argument: %#', async (call, message) => {
    await expect(call()).rejects.toThrow(message)
  })
})
