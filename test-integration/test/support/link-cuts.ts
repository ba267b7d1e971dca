// Stalls of the links of one member. All its holders are in the same stall, each at another moment of its own work.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Held, Lock, type ZooKeeper } from '@zk/recipes'
import { Contest, type HolderOptions, type Recipe, type Rivals, whileExpired } from './rivals.ts'
import type { Random } from '../../src/random.ts'
import type { EnsembleNode } from '../../src/ensemble/index.ts'
import { machineTime } from '../../src/history/index.ts'
import type { LinkedEnsemble } from '../../src/links/linked-ensemble.ts'

/** What a holder does while links stall: it has held for long, or is granted, or downgrades to a reader. */
const whats = ['grant', 'hold', 'downgrade', 'election', 'permit'] as const
const kinds = ['plain', 'resumed', 'authenticated'] as const
type What = (typeof whats)[number]

const recipes: Readonly<Record<What, Recipe>> = {
  grant: 'lock',
  hold: 'lock',
  downgrade: 'shared',
  election: 'election',
  permit: 'semaphore',
}

/** The role of the one member that the holders are connected to. */
type Place = 'follower' | 'leader'

/** How links stall. All in ms from the beginning. */
interface Stall {
  readonly place: Place
  /** The direction that stalls first, from the viewpoint of the holders' member. */
  readonly first: 'in' | 'out'
  /** When the first direction passes again and the other stalls. A leader is cut off then. */
  readonly turn: number
  /** When both stall; `Infinity` if the first one goes on passing. */
  readonly both: number
}

/** One holder in one stall. */
export interface Cut {
  readonly place: Place
  readonly what: What
  readonly kind: HolderOptions['kind']
  readonly stall: Stall
  /** When it called `acquire`, in ms from the beginning of the stall. */
  readonly askedAt: number
  readonly holder: HolderOptions
  readonly overlap: number
  readonly margin: number | undefined
  /**
   * The session expired while the holder counted on its lease. Otherwise the holder was notified of the end, or deleted its node
   * itself after the loss: that leaves no margin, and needs none.
   */
  readonly isByExpiry: boolean
}

/** Longest time of a hold before the stall, in ms. */
const LONGEST_PHASE = 1_000
const GOLDEN = (Math.sqrt(5) - 1) / 2

/**
 * Plays the `nth` stall with so many holders, and mends it. However many stalls are played, their turns are spread evenly over
 * a session timeout and a tick.
 */
export async function playStall(
  linked: LinkedEnsemble,
  random: Random,
  { nth, holders, longest }: { readonly nth: number; readonly holders: number; readonly longest: number },
): Promise<Cut[]> {
  const { ensemble } = linked
  const { tickTime } = ensemble.description
  const T = 2 * tickTime + random.below(3 * tickTime)
  const stall = drawStall(random, nth, T + tickTime)
  const leader = await ensemble.leader()
  const member = stall.place === 'leader' ? leader : random.pick(await ensemble.followers())
  await using contest = await Contest.begin(
    ensemble.nodes.filter((node) => node !== member),
    longest,
  )
  const contenders = await Promise.all(
    Array.from({ length: holders }, async (_, index) => {
      const what = whats[index % whats.length]!
      const kind = kinds[(nth + index) % kinds.length]!
      const holder = drawHolder(random, kind, { T, shortest: 2 * tickTime, longest })
      const rivals = await contest.rivals(recipes[what])
      return await prepare(contest, member, { what, kind, holder, rivals, random, turn: stall.turn })
    }),
  )

  const lead = Math.max(0, ...contenders.map(({ askedAt }) => -askedAt))
  const begin = machineTime() + lead
  const acting = contenders.map(async ({ askedAt, act }) => {
    await at(begin + askedAt)
    await act()
  })
  // It may be refused, or wait until the end for its reply.
  for (const each of acting) each.catch(() => {})
  await at(begin)
  const struck = await strike(linked, {
    stall,
    member,
    others: ensemble.nodes.filter((node) => node !== member),
    begin,
  })
  await contest.decided()
  await linked.mend()
  // Holders learn the outcome from late replies, too.
  await contest.settled()
  return contenders.map(({ what, kind, askedAt, holder, rivals }) => {
    const { overlap, margin } = rivals
    return {
      place: stall.place,
      what,
      kind,
      stall,
      askedAt,
      holder,
      overlap,
      margin,
      isByExpiry: isByExpiry(rivals, stall, struck),
    }
  })
}

/** If a loss came while packets of its member got through, the holder has deleted its node itself. */
function isByExpiry({ overlap, turn, endedBy }: Rivals, stall: Stall, { beganAt, turnedAt, bothAt }: Struck): boolean {
  if (overlap > 0) return true
  if (turn === undefined || endedBy !== 'LeaseLost') return false
  const { heldUntil, grantedAt } = turn
  if (stall.first === 'in') return heldUntil > turnedAt
  // A leader that is cut off sends nothing any more.
  if (stall.place === 'leader') return heldUntil > beganAt
  return (heldUntil > beganAt && grantedAt < turnedAt) || heldUntil > bothAt
}

function drawStall(random: Random, nth: number, longest: number): Stall {
  const turn = Math.round(((0.5 + nth * GOLDEN) % 1) * longest)
  return {
    place: nth % 4 === 1 ? 'leader' : 'follower',
    first: random.percent(75) ? 'in' : 'out',
    turn,
    both: random.percent(75) ? turn + random.below(100) : Infinity,
  }
}

function drawHolder(
  random: Random,
  kind: HolderOptions['kind'],
  { T, shortest, longest }: { readonly T: number; readonly shortest: number; readonly longest: number },
): HolderOptions {
  // Timeouts in one stall differ a little: the turn comes at another part of each.
  const sessionTimeout = T + random.below(Math.floor(T / 4))
  if (kind !== 'resumed') return { kind, sessionTimeout }
  const short = Math.max(shortest, Math.round(sessionTimeout / 2))
  const long = Math.min(longest, Math.round(2.5 * sessionTimeout))
  return random.percent(50)
    ? { kind, createdWith: short, sessionTimeout: long }
    : { kind, createdWith: long, sessionTimeout: short }
}

interface Contender {
  readonly what: What
  readonly kind: HolderOptions['kind']
  readonly holder: HolderOptions
  readonly rivals: Rivals
}

/** Sets up a contender before links stall; `act` is its action during the stall. */
async function prepare(
  contest: Contest,
  member: EnsembleNode,
  { random, turn, ...contender }: Contender & { readonly random: Random; readonly turn: number },
): Promise<Contender & { readonly askedAt: number; readonly act: () => Promise<unknown> }> {
  const { what, holder, rivals } = contender
  const phase = random.below(LONGEST_PHASE)
  // From half a timeout before the stall, or before the turn, to a little after it.
  const askedAt =
    (random.percent(50) ? turn : 0) - random.below(Math.floor(holder.sessionTimeout / 2)) + random.below(100)
  // A session that holds already has a proof, with which it can be granted another lock at once.
  const isWarm = random.percent(50)
  const start = async (): Promise<{ zk: ZooKeeper; held?: Held }> => {
    const zk = await contest.holderAt(member, holder)
    // Rounds begin with the grant: those of one stall are not in step.
    await sleep(phase)
    if (what === 'hold' || what === 'downgrade') return { zk, held: await rivals.acquire(zk) }
    if (isWarm) await new Lock(zk, `${rivals.path}-warm`).acquire()
    return { zk }
  }
  const { zk, held } = await whileExpired(start)
  switch (what) {
    case 'hold':
      return { ...contender, askedAt: 0, act: async () => {} }
    case 'downgrade':
      return { ...contender, askedAt, act: () => rivals.downgrade(held!) }
    case 'grant':
    case 'election':
    case 'permit':
      return { ...contender, askedAt, act: () => rivals.acquire(zk) }
  }
}

/** When each part of a stall was really done, on the clock of the rivals: timers are late. */
interface Struck {
  readonly beganAt: number
  readonly turnedAt: number
  readonly bothAt: number
}

async function strike(
  linked: LinkedEnsemble,
  {
    stall,
    member,
    others,
    begin,
  }: {
    readonly stall: Stall
    readonly member: EnsembleNode
    readonly others: readonly EnsembleNode[]
    readonly begin: number
  },
): Promise<Struck> {
  const { links } = linked
  const each = (act: (from: EnsembleNode, to: EnsembleNode) => void, direction: 'in' | 'out') => {
    for (const other of others) act(...(direction === 'in' ? ([other, member] as const) : ([member, other] as const)))
  }
  const second = stall.first === 'in' ? 'out' : 'in'
  each((from, to) => links.hold(from, to), stall.first)
  const beganAt = machineTime()
  await at(begin + stall.turn)
  if (stall.place === 'leader') {
    linked.isolate(member)
    return { beganAt, turnedAt: machineTime(), bothAt: Infinity }
  }
  each((from, to) => links.release(from, to), stall.first)
  each((from, to) => links.hold(from, to), second)
  const turnedAt = machineTime()
  if (stall.both === Infinity) return { beganAt, turnedAt, bothAt: Infinity }
  await at(begin + stall.both)
  each((from, to) => links.hold(from, to), stall.first)
  return { beganAt, turnedAt, bothAt: machineTime() }
}

async function at(time: number): Promise<void> {
  await sleep(Math.max(0, time - machineTime()))
}

/** One line for each place, what and kind; and the cut with the worst margin. */
export function describeCuts(cuts: readonly Cut[]): string {
  const lines = (['follower', 'leader'] as const).flatMap((place) =>
    whats.flatMap((what) =>
      kinds.flatMap((kind) => {
        const those = cuts.filter((cut) => cut.place === place && cut.what === what && cut.kind === kind)
        if (those.length === 0) return []
        const held = those.filter(({ margin }) => margin !== undefined)
        const expired = held.filter((cut) => cut.isByExpiry)
        const margins = expired.map(({ margin }) => margin!)
        const overlaps = those.filter(({ overlap }) => overlap > 0)
        const longest = Math.max(0, ...those.map(({ overlap }) => overlap))
        const worst = margins.length === 0 ? '-' : Math.min(...margins).toFixed(0)
        const cells = [those.length, held.length, expired.length, overlaps.length, longest.toFixed(0), worst]
        return [[place.padEnd(9), what.padEnd(10), kind.padEnd(14), ...cells.map((cell) => String(cell).padStart(9))]]
      }),
    ),
  )
  const head = ['place'.padEnd(9), 'what'.padEnd(10), 'session'.padEnd(14)]
  const columns = ['cuts', 'held', 'expired', 'overlaps', 'longest', 'margin'].map((name) => name.padStart(9))
  const table = [[...head, ...columns], ...lines].map((cells) => cells.join('')).join('\n')
  const [worst] = cuts.filter(({ isByExpiry }) => isByExpiry).toSorted((a, b) => a.margin! - b.margin!)
  return `${table}\nworst: ${JSON.stringify(worst)}`
}
