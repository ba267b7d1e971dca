// A history as text.
import type { HistoryEntry } from '@zk/testing'
import type { Violation } from '../checks/check.ts'
import type { Recorded } from '../history/history.ts'
import type { Turn } from '../scenario/calls.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { toText } from './trace.ts'

/** The plan: clients with their tasks, and the schedule of faults. */
export function printScenario({ seed, recipe, ensemble, sessionTimeout, network, clients, faults }: Scenario): string {
  return [
    `seed ${seed}: ${recipe}, ${clients.length} clients, ${ensemble.members} servers`,
    `T ${sessionTimeout} ms, tick ${ensemble.tickTime} ms, latency up to ${network.latency} ms, cuts ${network.cuts}`,
    ...(ensemble.sasl === undefined ? [] : [`SASL is ${ensemble.sasl}`]),
    ...(network.names === undefined
      ? []
      : [`names: ${network.names === 'each' ? 'one for each server' : 'one for all servers'}`]),
    ...(network.lookUp === undefined ? [] : [`look-ups take ${network.lookUp} ms more`]),
    ...(network.resets === undefined ? [] : ['servers reset connections']),
    ...(network.answers === undefined ? [] : [`answers come ${network.answers} ms later`]),
    ...(ensemble.juteMaxBuffer === undefined ? [] : [`jute.maxbuffer ${ensemble.juteMaxBuffer}`]),
    ...(ensemble.longestTimeouts === undefined ? [] : [`longest T by server: ${toText(ensemble.longestTimeouts)}`]),
    ...clients.flatMap(({ clockRate, watches, workers, steps: _, calls: __, ...manners }, client) =>
      workers.flatMap((tasks, worker) => [
        `client ${client} worker ${worker} (clock ${clockRate}${watches ? ', watches' : ''}) ${toText(manners)}`,
        ...tasks.map((task) => `    ${toText(task)}`),
      ]),
    ),
    ...clients.flatMap(({ clockRate, workers: _, steps = [], ...manners }, client) =>
      steps.flatMap((each, worker) => [
        `client ${client} worker ${worker} (clock ${clockRate}) ${toText(manners)}`,
        ...each.map((step) => `    ${toText(step)}`),
      ]),
    ),
    ...clients.flatMap(({ clockRate, usesSasl, calls }, client) => {
      if (calls === undefined) return []
      const { turns, ...options } = calls
      return [
        `client ${client} (clock ${clockRate}${usesSasl ? ', SASL' : ''}, ${toText(options)})`,
        ...turns.map(printTurn),
      ]
    }),
    ...clients.flatMap(({ clockRate, group }, client) =>
      group === undefined ? [] : [`client ${client} (clock ${clockRate}) ${toText(group)}`],
    ),
    ...clients.flatMap(({ clockRate, mirror }, client) =>
      mirror === undefined ? [] : [`client ${client} (clock ${clockRate}) ${toText(mirror)}`],
    ),
    faults.length === 0 ? 'no faults' : 'faults',
    ...faults.map(({ at, fault }) => `    at ${at}: ${toText(fault)}`),
  ].join('\n')
}

function printTurn({ calls, ...turn }: Turn): string {
  return [`    turn ${toText(turn)}`, ...calls.map((call) => `        ${toText(call)}`)].join('\n')
}

export function printViolations(violations: readonly Violation[]): string {
  return violations
    .map(({ invariant, at, what }) => `${invariant}${at === undefined ? '' : ` at ${at.toFixed(3)} ms`}: ${what}`)
    .join('\n')
}

/** Frames as servers saw them, and the actions of clients, in one order of time. */
export function printTrace(history: readonly Recorded[], frames: readonly FrameLine[]): string {
  const lines = [
    ...frames,
    ...history.map(({ at, type, ...rest }) => ({ at, line: `${stamp(at)}  ** ${type} ${toText(rest)}` })),
  ]
  return lines
    .sort((one, other) => one.at - other.at)
    .map(({ line }) => line)
    .join('\n')
}

interface FrameLine {
  readonly at: number
  readonly line: string
}

/** `described` is the text of the history of `@zk/testing`, a line for each entry. */
export function frameLines(entries: readonly Pick<HistoryEntry, 'at'>[], described: string): FrameLine[] {
  const lines = described.split('\n')
  return entries.map(({ at }, index) => ({ at, line: lines[index]! }))
}

function stamp(at: number): string {
  return `${at.toFixed(1).padStart(9)} ms`
}
