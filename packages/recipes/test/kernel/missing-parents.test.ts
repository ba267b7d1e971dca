// A create with parents of the client rejects with NoNode if its time is up before the nodes above exist.
import { expect, test } from 'vitest'
import { calls, creators, strideOf } from '../support/every-recipe.ts'
import { atEveryMoment } from '../support/everywhere.ts'
import { outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

const T = 4_000

test.each(creators)(
  '%s goes on when the process stands still for long at any moment while the path is made (N11)',
  async (name) => {
    const played = await atEveryMoment(async (moment) => {
      const scene = new Scene()
      const zk = await scene.client({ sessionTimeout: T })
      const calling = outcome(calls[name](zk, { timeout: 60_000 }))
      let wasPending = false
      scene.world.interrupt(moment, () => {
        wasPending = calling.status === 'pending'
        scene.world.stall(1.5 * T)
      })
      for (let time = 0; time < 60_000 && calling.status === 'pending'; time += T) await scene.world.advance(T)
      expect(calling.status === 'rejected' ? calling.error : calling.status).toBe('fulfilled')
      return wasPending
    }, strideOf(name))
    expect(played).toBeGreaterThan(3)
  },
)
