import { check } from '../checks/index.ts'
import type { Violation } from '../checks/check.ts'
import { ServerLog } from '../history/server-log.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { nameOf } from './cable.ts'
import type { Scope } from './scope.ts'
import type { World } from './world.ts'

/** Checks a history that has ended, by the invariants of the simulator. */
export function judge({ scope, history, server, clients, now }: World): Violation[] {
  const end = {
    at: now,
    isOutOfTime: false,
    pending: clients.flatMap(({ contestant: { phase } }, client) =>
      phase === 'done' ? [] : [`client ${nameOf(client)}, ${phase},`],
    ),
    nodes: server.contenders,
    serverWatches: server.watches,
    // Clients are not closed, so their timers and connections are not left behind.
    timers: 0,
    links: 0,
    unhandled: [],
    watched: [],
    unconnected: [],
  }
  const violations = check({
    scenario: scenarioOf(scope),
    history,
    log: new ServerLog(server.log),
    committed: server.log,
    lines: [],
    lookUps: [],
    // The check of herds looks only at recipes with one holder. No scope has three clients of one of those.
    events: [],
    shortened: new Set<bigint>(),
    calmAt: 0,
    end,
  })
  // Time stands still at this server: only the operator expires a session.
  return violations.filter(({ invariant }) => invariant !== 'I18')
}

/** The checks use only the recipe of a scenario, and the durations in it. */
function scenarioOf({ recipe }: Scope): Scenario {
  return {
    seed: 0,
    recipe,
    ensemble: { members: 1, tickTime: 2_000, syncLimit: 5, latency: 0 },
    network: { latency: 0, cuts: 0 },
    sessionTimeout: 30_000,
    clients: [],
    faults: [],
  }
}
