// Finds a smaller scenario that fails in the same way (delta debugging). It knows nothing of what clients do: it leaves out items of
// lists, and fields that may be missing.
import type { Scenario } from './scenario.ts'

/** Whether the scenario still fails. */
export type StillFails = (scenario: Scenario) => Promise<boolean>

/** Leaves out faults, then what clients do, then what is not needed of the rest, as long as the scenario still fails. */
export async function shrink(scenario: Scenario, stillFails: StillFails): Promise<Scenario> {
  let smallest = scenario
  for (;;) {
    const before = JSON.stringify(smallest)
    smallest = await withFewerFaults(smallest, stillFails)
    smallest = await withFewerActions(smallest, stillFails)
    for (const simplify of simplifications) {
      const candidate = simplify(smallest)
      const isSimpler = JSON.stringify(candidate) !== JSON.stringify(smallest)
      if (isSimpler && (await stillFails(candidate))) smallest = candidate
    }
    if (JSON.stringify(smallest) === before) return smallest
  }
}

async function withFewerFaults(scenario: Scenario, stillFails: StillFails): Promise<Scenario> {
  const faults = await fewest(scenario.faults, (fewer) => stillFails({ ...scenario, faults: fewer }))
  return { ...scenario, faults }
}

/** Tasks, turns, calls, steps, writes: all objects in lists of a client. Its lists stay, since their number is that of its workers. */
async function withFewerActions(scenario: Scenario, stillFails: StillFails): Promise<Scenario> {
  const only = (kept: readonly object[]): Scenario => ({
    ...scenario,
    clients: scenario.clients.map((client) => withOnly(client, new Set(kept))),
  })
  return only(await fewest(scenario.clients.flatMap(actionsIn), (fewer) => stillFails(only(fewer))))
}

/** These are not left out: a task without any lock is none. */
const NEEDED = ['locks']

function actionsIn(value: object): object[] {
  return Object.entries(value).flatMap(([name, each]) => {
    if (typeof each !== 'object' || each === null || NEEDED.includes(name)) return []
    return Array.isArray(value) && !Array.isArray(each) ? [each, ...actionsIn(each)] : actionsIn(each)
  })
}

function withOnly<Value>(value: Value, kept: ReadonlySet<object>): Value {
  if (typeof value !== 'object' || value === null) return value
  const isKept = (each: unknown) => typeof each !== 'object' || each === null || Array.isArray(each) || kept.has(each)
  if (Array.isArray(value)) return value.filter(isKept).map((each: unknown) => withOnly(each, kept)) as Value
  const entries = Object.entries(value)
  return Object.fromEntries(
    entries.map(([name, each]) => [name, NEEDED.includes(name) ? each : withOnly(each, kept)]),
  ) as Value
}

/** Leaves these fields out, wherever they are. */
function without(...names: readonly string[]): (scenario: Scenario) => Scenario {
  return changing((name) => (names.includes(name) ? undefined : KEEP))
}

function setting(name: string, to: unknown, from?: unknown): (scenario: Scenario) => Scenario {
  return changing((each, value) => (each === name && (from === undefined || value === from) ? to : KEEP))
}

const KEEP = Symbol('keep')

function changing(change: (name: string, value: unknown) => unknown): (scenario: Scenario) => Scenario {
  return (scenario) =>
    JSON.parse(
      JSON.stringify(scenario, (name, value: unknown) => {
        const changed = change(name, value)
        return changed === KEEP ? value : changed
      }),
    ) as Scenario
}

/** Each is kept if the scenario still fails. */
const simplifications: readonly ((scenario: Scenario) => Scenario)[] = [
  setting('cuts', 0),
  without('resets', 'answers'),
  setting('clockRate', 1),
  setting('watches', false),
  without('longestTimeouts', 'juteMaxBuffer'),
  without('sasl', 'usesSasl'),
  without('names', 'lookUp'),
  ...[
    'handOvers',
    'refreshesEvery',
    'follows',
    'label',
    'bytes',
    'holdOptions',
    'timeout',
    'abortAfter',
    'downgrade',
  ].map((name) => without(name)),
  setting('how', 'acquire', 'run'),
  setting('writes', 'fenced'),
  without('maxWaiting', 'maxInFlight', 'maxWaitingBytes', 'maxInFlightBytes'),
  setting('hasCredential', false),
  ...['renews', 'pinned', 'leavesAfter'].map((name) => without(name)),
]

/** The items of which none can be left out: halves are tried first, then smaller parts. */
async function fewest<T>(
  all: readonly T[],
  stillFails: (fewer: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let left = all
  for (let size = Math.ceil(all.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < left.length;) {
      const fewer = [...left.slice(0, from), ...left.slice(from + size)]
      if (await stillFails(fewer)) left = fewer
      else from += size
    }
  }
  return left
}
