// Runs every history of a scope, each from its beginning, because the state in closures and promises of client code cannot be
// copied. A history is a list of choices. The search is depth first over the choices that were not taken.
//
// One history is run for all that differ only in the order of events that commute (`footprint.ts`):
//
// - Sleep sets (Godefroid): an event that was tried at a point sleeps in the next branches of that point, until an event
//   happens with which it does not commute. If all possible events sleep, the rest was seen before: the history is cut short.
// - Persistent sets (Godefroid): at some points it is enough to try the events of one client: see `persistentSet`.
// - Clients of one kind are interchangeable as long as nothing of theirs has happened: see `withoutTwins`.
import type { Violation } from '../checks/check.ts'
import { type Choice, clientOf } from './choice.ts'
import { commute, type Footprint, touchesHolds } from './footprint.ts'
import { judge } from './judge.ts'
import type { Scope } from './scope.ts'
import { World } from './world.ts'

/** The largest number of steps. A longer history has no end. */
const MOST_CHOICES = 1_000

/** What is searched. */
interface Searched {
  readonly scope: Scope
  /** Whether to leave out histories that differ from others only in the order of events that commute. @default true */
  readonly isReduced?: boolean
  /** Whether to leave out histories that differ from others only in which of two clients of one kind is which. @default true */
  readonly leavesOutTwins?: boolean
}

export interface SearchOptions extends Searched {
  /** Called after every history: true ends the search early. */
  readonly isOver?: (soFar: Counts) => boolean
  /** Called with each history that was run to its end. */
  readonly onHistory?: (world: World, taken: readonly Taken[]) => void
  /** Rejections that were not handled since the last call. */
  readonly unhandled?: () => Promise<readonly string[]>
}

export interface Taken {
  readonly id: string
  readonly footprint: Footprint
}

export interface Found {
  /** The ids of the choices that lead there, for a replay. */
  readonly choices: readonly string[]
  readonly violations: readonly Violation[]
}

export interface Counts {
  /** The number of histories that were run to their ends. */
  readonly histories: number
  /** The number of histories that were cut short, since their rest was seen before. */
  readonly cut: number
  /** The number of choices in the longest history. */
  readonly longest: number
  /** The number of steps in all histories, repeated steps included. */
  readonly events: number
}

const none: Counts = { histories: 0, cut: 0, longest: 0, events: 0 }

export interface SearchResult extends Counts {
  /** The first history that failed: there the search ends. */
  readonly found: Found | undefined
  /** Whether the search is complete. */
  readonly isWhole: boolean
}

/** A point of the present history at which something was chosen. */
interface Point {
  /** All possible events, and those that are still to be tried. */
  readonly all: readonly string[]
  todo: string[]
  /** The events that need not be tried here, with what they touch: they were tried, here or before. */
  readonly asleep: Map<string, Footprint>
  taken: Taken
}

export async function search({
  scope,
  isReduced = true,
  leavesOutTwins = true,
  isOver = () => false,
  onHistory = () => {},
  unhandled = () => Promise.resolve([]),
}: SearchOptions): Promise<SearchResult> {
  const path: Point[] = []
  let counts = none
  do {
    const { world, end, violations } = await tryOut({ scope, isReduced, leavesOutTwins }, path)
    const rejections = (await unhandled()).map(crash)
    const taken = path.map((point) => point.taken)
    const isCut = end === 'cut'
    if (!isCut) onHistory(world, taken)
    counts = {
      histories: counts.histories + (isCut ? 0 : 1),
      cut: counts.cut + (isCut ? 1 : 0),
      longest: Math.max(counts.longest, isCut ? 0 : path.length),
      events: counts.events + path.length,
    }
    const wrong = [...violations, ...rejections]
    if (wrong.length > 0) {
      return { ...counts, found: { choices: taken.map(({ id }) => id), violations: wrong }, isWhole: false }
    }
    if (isOver(counts)) return { ...counts, found: undefined, isWhole: false }
  } while (advance(path))
  return { ...counts, found: undefined, isWhole: true }
}

interface Tried {
  readonly world: World
  readonly end: 'rest' | 'cut' | 'endless' | 'crash'
  readonly violations: readonly Violation[]
}

/** Runs the history that begins with this path. */
async function tryOut(search: Required<Searched>, path: Point[]): Promise<Tried> {
  const world = await World.open(search)
  try {
    const end = await run(world, path, search)
    if (end === 'cut') return { world, end, violations: [] }
    return { world, end, violations: end === 'rest' ? judge(world) : [endless] }
  } catch (error) {
    return { world, end: 'crash', violations: [crash(error)] }
  }
}

/** Follows the path, goes on to the end of the history, and extends the path by its choices. */
async function run(
  world: World,
  path: Point[],
  { isReduced, leavesOutTwins }: Required<Searched>,
): Promise<'rest' | 'cut' | 'endless'> {
  for (const [depth, point] of path.entries()) {
    const footprint = await world.do(find(world.choices(), point.taken.id))
    if (depth === path.length - 1) note(point, footprint, isReduced)
  }
  while (path.length < MOST_CHOICES) {
    const all = leavesOutTwins ? withoutTwins(world, world.choices()) : world.choices()
    if (all.length === 0) return 'rest'
    const asleep = isReduced ? sleepersAfter(path.at(-1)) : new Map<string, Footprint>()
    const tried = isReduced ? persistentSet(world, all, asleep) : all
    const [first, ...todo] = tried.map(({ id }) => id).filter((id) => !asleep.has(id))
    if (first === undefined) return 'cut'
    const point = { all: all.map(({ id }) => id), todo, asleep, taken: { id: first, footprint: 0 } }
    path.push(point)
    note(point, await world.do(find(all, first)), isReduced)
  }
  return 'endless'
}

/** Called when it is known what the choice touches. */
function note(point: Point, footprint: Footprint, isReduced: boolean): void {
  point.taken = { id: point.taken.id, footprint }
  if (!isReduced || !touchesHolds(footprint)) return
  // A later event elsewhere may not commute with it: nothing may be left out.
  const { all, asleep, taken } = point
  point.todo = all.filter((id) => id !== taken.id && !asleep.has(id))
}

/** Changes the path to that of the next history. False when there is none. */
function advance(path: Point[]): boolean {
  for (let point = path.at(-1); point !== undefined; point = path.at(-1)) {
    const { taken, asleep, todo } = point
    asleep.set(taken.id, taken.footprint)
    const next = todo.shift()
    if (next !== undefined) {
      point.taken = { id: next, footprint: 0 }
      return true
    }
    path.pop()
  }
  return false
}

/** The events that still sleep after a point. */
function sleepersAfter(point: Point | undefined): Map<string, Footprint> {
  if (point === undefined) return new Map()
  const { asleep, taken } = point
  return new Map([...asleep].filter(([, footprint]) => commute(footprint, taken.footprint)))
}

/**
 * The possible events of one client, if no event elsewhere can add to them or take from them: something is under way to the
 * client on every connection that it still has. Every event elsewhere commutes with these, so the first event at this client
 * may as well happen now. (Events that touch holds are the exception. They are known for sleeping events, and `note` finds
 * them among the others.) A fault elsewhere may use up the remaining faults. Then the first event at this client is no fault,
 * and may still happen now.
 */
function persistentSet(world: World, all: readonly Choice[], asleep: Point['asleep']): readonly Choice[] {
  for (const [client, { process }] of world.clients.entries()) {
    const isClosed = process.cables.every(({ isDownOver, down }) => isDownOver || down.length > 0)
    if (!isClosed) continue
    const own = all.filter((choice) => choice.client === client)
    const isKnownToTouchHolds = own.some(({ id }) => touchesHolds(asleep.get(id) ?? 0))
    if (!isKnownToTouchHolds && own.some(({ need }) => need === 'due')) return own
  }
  return all
}

/**
 * Leaves out the events of a client to which nothing has happened, if the same is true of an earlier client of its kind: with
 * these two clients exchanged, the same histories follow.
 */
function withoutTwins(world: World, all: readonly Choice[]): readonly Choice[] {
  const { clients, counts } = world.scope
  const isTwin = (client: number) =>
    clients.some((kind, other) => {
      const isAlike = kind === clients[client] && counts?.[other] === counts?.[client]
      return other < client && isAlike && !world.involved.has(other)
    })
  return all.filter((choice) => {
    const client = clientOf(choice)
    return client === undefined || world.involved.has(client) || !isTwin(client)
  })
}

export function find(choices: readonly Choice[], id: string): Choice {
  const choice = choices.find((each) => each.id === id)
  if (choice === undefined) throw new Error(`${id} cannot happen here: ${choices.map((each) => each.id).join(', ')}`)
  return choice
}

const endless: Violation = { invariant: 'I6', at: undefined, what: `after ${MOST_CHOICES} events there is no end` }

/** A history that could not be played to its end, or an error that no code handled. */
export function crash(error: unknown): Violation {
  const what = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { invariant: 'I12', at: undefined, what: `unhandled: ${what}` }
}
