import { expect } from 'vitest'
import type { AcquireOptions, Held, ZooKeeper } from '../../src/index.ts'
import { atEveryMoment } from './everywhere.ts'
import type { InterruptibleWorld, Moment } from './interruptible-world.ts'
import { type Outcome, outcome } from './outside.ts'
import { nothing, Scene } from './scene.ts'

/** An acquire whose signal aborts at one moment. */
export class AbortedAcquire<H> {
  readonly acquiring: Outcome<H>
  /** Whether it was not settled when its signal aborted. */
  wasPending = false
  /** How often `onQueued` was called after it had settled. */
  calledLate = 0

  constructor(
    world: InterruptibleWorld,
    moment: Moment,
    reason: unknown,
    acquire: (options: AcquireOptions) => Promise<H>,
  ) {
    const aborting = new AbortController()
    const onQueued = () => {
      if (this.acquiring.status !== 'pending') this.calledLate++
    }
    this.acquiring = outcome(acquire({ signal: aborting.signal, onQueued }))
    world.interrupt(moment, () => {
      this.wasPending = this.acquiring.status === 'pending'
      aborting.abort(reason)
    })
  }
}

export interface AbortedStory {
  /** Makes nodes before the acquire. */
  readonly prepare?: (scene: Scene) => void
  /** Acquires what stands in the way. It is released when the acquire was aborted. */
  readonly obstruct?: ((holder: ZooKeeper) => Promise<Held>) | undefined
  readonly acquire: (zk: ZooKeeper, options: AcquireOptions) => Promise<Held>
}

/** Aborts the acquire at every moment: it never holds, rejects at once, and leaves nothing. Returns how often it was aborted. */
export async function abortAtEveryMoment({ prepare, obstruct, acquire }: AbortedStory): Promise<number> {
  const reason = new Error('changed my mind')
  return await atEveryMoment(
    async (moment) => {
      const scene = new Scene()
      const [zk, holder] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      prepare?.(scene)
      const holding = await (obstruct && scene.done(obstruct(holder)))
      const aborted = new AbortedAcquire(scene.world, moment, reason, (options) => acquire(zk, options))
      const { acquiring } = aborted
      await scene.world.settle()
      if (acquiring.status === 'rejected') {
        expect(scene.ensemble.nodes.ephemerals(zk.session.id)).toEqual([])
        expect(scene.watches(zk)).toEqual([])
      }
      await (holding && scene.done(holding.release()))
      if (acquiring.status === 'rejected') expect(acquiring.error).toBe(reason)
      else {
        // It was granted before the abort, or is not interrupted any more.
        await scene.world.settle()
        await scene.done(acquiring.value.release())
      }
      await scene.world.advance(1_000)
      expect(aborted.calledLate).toBe(0)
      expect(scene.leftovers()).toEqual(nothing)
      return aborted.wasPending
    },
    { stride: 3 },
  )
}
