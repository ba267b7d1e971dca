import { describe, expect, test } from 'vitest'
import { Random, WALL_START } from '@zk/testing/internal'
import { commute, type Footprint, ofClient, ofConnections } from '../src/exhaustive/footprint.ts'
import { judge } from '../src/exhaustive/judge.ts'
import type { FaultType, Scope } from '../src/exhaustive/scope.ts'
import { scopeNamed } from '../src/exhaustive/scopes.ts'
import { type Counts, search, type Taken } from '../src/exhaustive/search.ts'
import { World } from '../src/exhaustive/world.ts'
import { executedParts } from '../src/history/executed-parts.ts'
import { toText } from '../src/trace/trace.ts'

interface Covered extends Counts {
  /** All outcomes of each class of histories. Histories of one class differ only in the order of events that commute. */
  readonly outcomes: ReadonlyMap<string, ReadonlySet<string>>
}

/** Searches to the end. */
async function cover(scope: Scope, isReduced: boolean, leavesOutTwins = false): Promise<Covered> {
  const outcomes = new Map<string, Set<string>>()
  const onHistory = (world: World, taken: readonly Taken[]) => {
    const name = classOf(taken)
    const known = outcomes.get(name)
    if (known === undefined) outcomes.set(name, new Set([outcomeOf(world)]))
    else known.add(outcomeOf(world))
  }
  const result = await search({ scope, isReduced, leavesOutTwins, onHistory })
  expect(result).toMatchObject({ isWhole: true, found: undefined })
  return { ...result, outcomes }
}

/** Foata's normal form: each event is in the first row behind all events that it does not commute with. */
function classOf(taken: readonly Taken[]): string {
  const rows: Taken[][] = []
  for (const event of taken) {
    const last = rows.findLastIndex((row) => row.some((other) => !commute(other.footprint, event.footprint)))
    ;(rows[last + 1] ??= []).push(event)
  }
  return rows
    .map((row) =>
      row
        .map(({ id, footprint }) => `${id} ${footprint}`)
        .sort()
        .join('\n'),
    )
    .join('\n--\n')
}

/** The class in which clients a and b are exchanged. */
function twinOf(name: string): string {
  const rows = name.split('\n--\n').map((row) => row.split('\n').map(exchanged).sort().join('\n'))
  return rows.join('\n--\n')
}

function exchanged(event: string): string {
  const [, id, footprint] = /^(.*) (-?\d+)$/.exec(event)!
  const other = id!.replaceAll(/\b[ab](?=\d*\b)/g, (client) => (client === 'a' ? 'b' : 'a'))
  return `${other} ${exchangedBits(Number(footprint))}`
}

function exchangedBits(footprint: Footprint): Footprint {
  if (footprint < 0) return footprint
  const pairs = [
    [ofClient(0), ofClient(1)],
    [ofConnections(0), ofConnections(1)],
  ] as const
  let bits = footprint
  for (const [one, other] of pairs) if (((bits & one) === 0) !== ((bits & other) === 0)) bits ^= one | other
  return bits
}

/** What each client saw, what the server committed, which clients held in which order, and the verdict. */
function outcomeOf(world: World): string {
  const { log, watches } = world.server
  const history = world.history.map(({ at: _, ...happening }) => happening)
  return toText({
    clients: world.clients.map((_, client) => history.filter((each) => 'attempt' in each && each.attempt === client)),
    holds: world.scope.recipe === 'Semaphore' ? heldTogether(world) : holdsInOrder(world),
    log: log.map(({ header: { zxid, sessionId }, txn }) => ({ zxid, sessionId, txn })),
    watches,
    violations: judge(world).map(({ invariant, what }) => ({ invariant, what })),
  })
}

/** Each hold begins and ends at a place in the server's log, and behind others. */
function holdsInOrder({ history, server }: World) {
  const changes = server.log.filter(({ txn }) => executedParts(txn).some(({ type }) => type !== 'error'))
  const committedBy = (at: number) => changes.filter(({ header }) => header.time - WALL_START <= at).length
  return history
    .filter(({ type }) => type === 'granted' || type === 'lost')
    .map(({ at, type, ...rest }) => ({ type, ...rest, committed: committedBy(at) }))
}

/** The pairs of clients that held at one time. */
function heldTogether({ history }: World): string[] {
  const holding = new Set<number>()
  const pairs: string[] = []
  for (const each of history) {
    if (each.type === 'lost') holding.delete(each.attempt)
    if (each.type !== 'granted') continue
    for (const other of holding) pairs.push([each.attempt, other].sort((a, b) => a - b).join())
    holding.add(each.attempt)
  }
  return pairs.sort()
}

const lock = scopeNamed('Lock: no faults')
const semaphore = scopeNamed('Semaphore of 1: no faults')

function alone(scope: Scope, most: number, ...types: FaultType[]): Scope {
  return { ...scope, clients: scope.clients.slice(0, 1), faults: { most, types } }
}

/** One history of choices that are drawn, with its class and its outcome. */
async function drawn(scope: Scope, random: Random): Promise<{ readonly name: string; readonly outcome: string }> {
  const world = await World.open({ scope })
  const taken: Taken[] = []
  for (let all = world.choices(); all.length > 0; all = world.choices()) {
    const choice = random.one(all)
    taken.push({ id: choice.id, footprint: await world.do(choice) })
  }
  return { name: classOf(taken), outcome: outcomeOf(world) }
}

describe('search', () => {
  test.each([
    ['two clients', lock],
    ['one client and a fault of any kind', alone(lock, 1, 'lose', 'expire', 'delete', 'abort')],
  ])('search leaves out only what differs in the order of what commutes: %s', async (_, scope) => {
    const whole = await cover(scope, false)
    const reduced = await cover(scope, true)
    expect(whole.histories).toBeGreaterThan(reduced.histories)
    // Histories of one class have the same outcome,
    expect([...whole.outcomes.values()].filter(({ size }) => size > 1)).toEqual([])
    // no class is missed,
    expect(new Set(reduced.outcomes.keys())).toEqual(new Set(whole.outcomes.keys()))
    // and no class is run twice.
    expect(reduced.histories).toBe(reduced.outcomes.size)
  })

  test.each([false, true])(
    'search leaves out only twins: the rest with two clients exchanged is the whole (reduced: %s)',
    async (isReduced) => {
      const whole = await cover(lock, isReduced)
      const rest = await cover(lock, isReduced, true)
      expect(rest.histories).toBe(whole.histories / 2)
      const withTwins = [...rest.outcomes.keys()].flatMap((name) => [name, twinOf(name)])
      expect(new Set(withTwins)).toEqual(new Set(whole.outcomes.keys()))
    },
  )

  test.each([
    ['a lock without a parent', scopeNamed('Lock: no faults, no parent')],
    ['a shared lock, frames apart', scopeNamed('SharedLock read/write: no faults, frames apart')],
    ['one permit', semaphore],
    ['one permit, frames apart', { ...semaphore, keepsSegments: false }],
    ['two permits that are held at once', { ...semaphore, permits: 2 }],
    ['both of two permits', scopeNamed('Semaphore of 2, both and one: no faults')],
    ['two locks at once', scopeNamed('MultiLock of 2: no faults')],
  ])('search runs a history of the class of any history that is drawn: %s', async (name, scope) => {
    const { outcomes } = await cover(scope, true)
    const random = new Random(1, name)
    for (let count = 0; count < 300; count++) {
      const { name: drawnClass, outcome } = await drawn(scope, random)
      expect(outcomes.get(drawnClass)).toEqual(new Set([outcome]))
    }
  })

  test('search leaves out only what comes to the same, also with timers that fire early', async () => {
    const scope = { ...alone(lock, 1, 'lose'), earlyTimers: 1 }
    const whole = await cover(scope, false)
    const reduced = await cover(scope, true)
    expect(whole.histories).toBeGreaterThan(reduced.histories)
    // The classes are not compared: a timer that fires before the last other event is another event than the same timer behind it.
    const outcomesOf = ({ outcomes }: Covered) => new Set([...outcomes.values()].flatMap((each) => [...each]))
    expect(outcomesOf(reduced)).toEqual(outcomesOf(whole))
  })
})
