// What the clients of several recipes have in common.
import type { Random } from '@zk/testing/internal'
import type { ClientPlan, HandOver, Scenario } from '../scenario/scenario.ts'
import type { Setting } from './workload.ts'

export const drawRate = (random: Random) => random.one([1, 1, 0.99, 1.01, 0.995, 1.005])

export function drawManners(random: Random, tickTime: number): Pick<ClientPlan, 'handOvers' | 'refreshesEvery'> {
  const handOver = (): HandOver => ({
    after: random.below(random.one([1, 200, 2_000])),
    sessionTimeout: random.one([2, 3, 5, 10]) * tickTime,
  })
  const handsOver = random.chance(0.15)
  const refreshes = random.chance(0.2)
  return {
    ...(handsOver && { handOvers: Array.from({ length: random.one([1, 1, 2]) }, handOver) }),
    ...(refreshes && { refreshesEvery: random.one([100, 200, 300, 500]) }),
  }
}

/** Clients without tasks. The rate of a client's clock is drawn before the rest. */
export function drawEach<More>(
  { clients, random }: Setting,
  drawOne: (client: number) => More,
): Pick<Scenario<ClientPlan & More>, 'clients'> {
  const plan = (_: unknown, client: number) => {
    const clockRate = drawRate(random)
    return { clockRate, watches: false, workers: [], ...drawOne(client) }
  }
  return { clients: Array.from({ length: clients }, plan) }
}
