// How long an acquire waits: its pauses end with it, and leave no timer.
import { expect, test } from 'vitest'
import { Limit } from '../../src/kernel/limit.ts'
import { outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

test('Limit.pause takes as long as it is given', async () => {
  const { world } = new Scene()
  const limit = new Limit(world, {})
  const pausing = outcome(limit.pause(1_000))
  await world.advance(999)
  expect(pausing.status).toBe('pending')
  await world.advance(1)
  expect(pausing.status).toBe('fulfilled')
  limit.stop()
})

test('Limit.pause that ends early rejects with the reason, and leaves no timer', async () => {
  const { world } = new Scene()
  const before = world.timers
  const abort = new AbortController()
  const limit = new Limit(world, { signals: [abort.signal] })
  const pausing = outcome(limit.pause(60_000))
  await world.settle()
  expect(world.timers).toBe(before + 1)
  abort.abort(new Error('enough'))
  await world.settle()
  expect(pausing.error).toMatchObject({ message: 'enough' })
  limit.stop()
  expect(world.timers).toBe(before)
})
