// The client alone: reads, writes, multis, syncs, watches, many in one turn, with timeouts of their own, signals that abort, small limits
// of flow, pinned to a session or not, closed and connected anew.
import type { Random } from '@zk/testing/internal'
import type { Operator } from '../play/operator.ts'
import { CALLS, nodeOf, PATH } from '../play/paths.ts'
import { callFaultyOps } from '../scenario/fault.ts'
import { everyFaultOfCalls } from '../scenario/fault-kinds.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { drawEach } from './manners.ts'
import type { Workload } from './workload.ts'
import { Caller } from './zookeeper/caller.ts'
import { type CallingClient, watchesOnce } from './zookeeper/calls.ts'
import { DrawnCalls } from './zookeeper/draw-calls.ts'
import { promises } from './zookeeper/promises/index.ts'

export const plainCalls: Workload<CallingClient> = {
  draw(setting) {
    const calls = new DrawnCalls(setting.random, setting.sessionTimeout)
    return drawEach(setting, () => ({ calls: calls.plan() }))
  },
  faults: everyFaultOfCalls,
  ops: callFaultyOps,
  withLimits: false,
  mayFollow: true,
  enlarge: withBytes,
  time: ({ calls }, { sessionTimeout }) =>
    calls.turns.reduce((sum, { after, renews }) => sum + after + (renews ? 4 : 2) * sessionTimeout, 0),
  prepare: createNodes,
  play: (client, context) => new Caller(client, context),
  paths: [PATH],
  checks: promises,
}

function withBytes(client: CallingClient, random: Random, juteMaxBuffer: number): CallingClient {
  const turns = client.calls.turns.map((turn) => ({
    ...turn,
    calls: turn.calls.map((call) => {
      const isWatch = watchesOnce(call.op) || call.op === 'watch'
      if (!random.chance(isWatch ? 0.8 : 0.2)) return call
      // Two fit into a request, and three do not.
      return { ...call, bytes: random.one([Math.ceil(juteMaxBuffer * 0.4), juteMaxBuffer + 200]) }
    }),
  }))
  return { ...client, calls: { ...client.calls, turns } }
}

/** Two of three nodes of the calls exist from the beginning. */
function createNodes(operator: Operator, { clients }: Scenario<CallingClient>): void {
  const ids = clients.flatMap(({ calls }) => calls.turns.flatMap(({ calls }) => calls.map(({ id }) => id)))
  operator.create(CALLS)
  for (const id of ids) if (id % 3 !== 0) operator.create(nodeOf(id))
}
