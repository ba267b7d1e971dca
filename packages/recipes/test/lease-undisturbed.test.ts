// Where nothing goes wrong nothing is lost, whenever in the rhythm of a session's heartbeats it was acquired.
import { expect, test } from 'vitest'
import { Lock } from '../src/index.ts'
import { Scene } from './support/scene.ts'

const PHASES = 24

test.each<[sessionTimeout: number, latency: number, relayAllowance?: number]>([
  [1_000, 0],
  [1_000, 10],
  [4_000, 20],
  [30_000, 0],
  [30_000, 100],
  [30_000, 100, 15_000],
])(
  'Held of a session of %i ms, %i ms from its server, keeps its lease',
  async (sessionTimeout, latency, relayAllowance = sessionTimeout / 3) => {
    const lost: string[] = []
    for (let phase = 0; phase < PHASES; phase++) {
      const scene = new Scene({ members: 3 })
      scene.network.latency = () => latency
      const connecting = scene.client({ sessionTimeout })
      await scene.world.advance(4 * latency)
      const zk = await connecting
      await scene.world.advance(sessionTimeout + (phase / PHASES) * sessionTimeout)
      const acquiring = scene.start(new Lock(zk, '/lock', { relayAllowance }).acquire())
      await scene.world.advance(20 * latency)
      const held = (await acquiring).value
      await scene.world.advance(5 * sessionTimeout)
      if (!held.isHeld()) lost.push(`phase ${phase}: ${String(held.signal.reason)}`)
    }
    expect(lost).toEqual([])
  },
)
