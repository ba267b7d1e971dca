// A history as text.
import type { HistoryEntry } from '@zk/testing'
import type { Violation } from '../checks/check.ts'
import type { Recorded } from '../history/history.ts'
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
    ...clients.flatMap((client, index) => [`client ${index}`, ...indented(client)]),
    faults.length === 0 ? 'no faults' : 'faults',
    ...faults.map(({ at, fault }) => `    at ${at}: ${toText(fault)}`),
  ].join('\n')
}

/** Items of lists have a line each, below the name of their list; everything else of an object is in one line. */
function indented(value: object): string[] {
  const below = Object.entries(value).filter(([, each]) => hasItems(each))
  const rest = Object.entries(value).filter(([, each]) => !hasItems(each))
  const own = Array.isArray(value) ? rest.map(([, each]) => toText(each)) : [toText(Object.fromEntries(rest))]
  const lines = [...own, ...below.flatMap(([name, each]) => [`${name}:`, ...indented(each as object)])]
  return lines.filter((line) => line !== '{}').map((line) => `  ${line}`)
}

/** Whether these are objects, or have a list of objects below. */
function hasItems(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some((each) => typeof each === 'object')
  return Object.values(value).some((each) => Array.isArray(each) && hasItems(each))
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
