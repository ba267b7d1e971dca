// Where nothing goes wrong nothing is lost, whenever in the rhythm of a session's heartbeats it was acquired.
import { expect, test } from 'vitest'
import { type Held, Lock } from '../../src/index.ts'
import { leaseTimes } from '../../src/lease/lease.ts'
import { Scene } from '../support/scene.ts'
import { isWholeSweep } from '../support/sweeps.ts'

/** Of a session timeout. In each third of it, from one heartbeat to the next, they are at other places. */
const PHASES = isWholeSweep ? 25 : 10

interface Setting {
  readonly sessionTimeout: number
  readonly latency: number
  readonly followerRelayDelay?: number
}

/** Acquired by a session that was idle before. */
async function holding(
  phase: number,
  { sessionTimeout, latency, followerRelayDelay = sessionTimeout / 3 }: Setting,
): Promise<{ scene: Scene; held: Held }> {
  const scene = new Scene({ members: 3 })
  scene.network.latency = () => latency
  const connecting = scene.client({ sessionTimeout })
  await scene.world.advance(4 * latency)
  const zk = await connecting
  await scene.world.advance(sessionTimeout + (phase / PHASES) * sessionTimeout)
  const acquiring = scene.start(new Lock(zk, '/lock', { followerRelayDelay }).acquire())
  await scene.world.advance(20 * latency)
  return { scene, held: (await acquiring).value }
}

test.each<[sessionTimeout: number, latency: number, followerRelayDelay?: number]>([
  [1_000, 0],
  [1_000, 10],
  [4_000, 20],
  [30_000, 0],
  [30_000, 100],
  [30_000, 100, 15_000],
])(
  'Held of a session of %i ms, %i ms from its server, keeps its lease',
  async (sessionTimeout, latency, followerRelayDelay = sessionTimeout / 3) => {
    const lost: string[] = []
    for (let phase = 0; phase < PHASES; phase++) {
      const { scene, held } = await holding(phase, { sessionTimeout, latency, followerRelayDelay })
      await scene.world.advance(5 * sessionTimeout)
      if (!held.isHeld()) lost.push(`phase ${phase}: ${String(held.signal.reason)}`)
    }
    expect(lost).toEqual([])
  },
)

test.each<[sessionTimeout: number, latency: number]>([
  [2_000, 5],
  [6_000, 20],
  [30_000, 0],
  [30_000, 100],
])(
  'Held of a session of %i ms, %i ms from its server, has T/3 less the margin and the way left before a round',
  async (sessionTimeout, latency) => {
    const short: string[] = []
    for (let phase = 0; phase < PHASES; phase++) {
      const { scene, held } = await holding(phase, { sessionTimeout, latency })
      // The first proofs go by heartbeats of before.
      await scene.world.advance(2 * sessionTimeout)
      let least = Infinity
      const step = Math.max(10, sessionTimeout / 600)
      for (let time = 0; time < 3 * sessionTimeout; time += step) {
        await scene.world.advance(step)
        least = Math.min(least, held.leaseRemaining())
      }
      const margin = sessionTimeout - leaseTimes.proven(sessionTimeout)
      if (least < sessionTimeout / 3 - margin - 12 * latency - 10) short.push(`phase ${phase}: ${least} ms`)
    }
    expect(short).toEqual([])
  },
)
