import { setTimeout as sleep } from 'node:timers/promises'
import { type BarrierEntry, WaitTimeoutError, DoubleBarrier, KeeperError } from '@zk/recipes'
import type { Note } from '../../history/index.ts'
import { childrenOf, LATEST } from '../insist.ts'
import { countsOf, type Recipe, type Stage } from '../recipe.ts'

interface Step extends Note {
  /** `gone`: the member's node is not there, and will not come any more. */
  readonly what: 'entering' | 'entered' | 'late' | 'leaving' | 'left' | 'lost' | 'gone'
  readonly slot: number
  /** The session, where it has entered or left. */
  readonly session?: string
}

/** A member, from its call of `enter` until its node was seen to be gone. */
interface Visit {
  readonly slot: number
  readonly steps: ReadonlyMap<Step['what'], Step>
  readonly from: number
  readonly to: number
}

/** Of six processes, so that the others go on while two are dead. */
const SIZE = 4
/** The longest time between two visits, in ms. */
const REST = 1_000
/** The longest time of the enters that have a timeout, in ms. */
const LONGEST = 2_000

export const doubleBarrier: Recipe<Step> = {
  name: 'double-barrier',
  weakAfter: 'entered',
  keeps: [''],
  contenders(stage, log) {
    const { zk, path, process: name, slot, turn, over } = stage
    const barrier = new DoubleBarrier(zk, path, { size: SIZE, name })
    let isFirst = true
    const visit = async (contender: string) => {
      const note = (what: Step['what'], session?: bigint) =>
        log({ contender, slot, what, ...(session !== undefined && { session: String(session) }) })
      const gone = async () => {
        // Nodes of dead processes of the same place, too.
        while ((await childrenOf(zk, path)).some((child) => child.startsWith(`${slot}.`))) await sleep(50)
        note('gone')
      }
      // A dead process at the same place may have sent a request that is still under way.
      if (isFirst) await sleep(stage.generation > 0 ? LATEST : 0, undefined, { signal: over }).catch(() => {})
      if (isFirst) await gone()
      isFirst = false
      if (over.aborted) return
      const timeout = Math.random() < 0.2 ? Math.random() * LONGEST : Infinity
      note('entering')
      const entry = await barrier.enter({ timeout, signal: over }).catch((error: unknown) => {
        if (WaitTimeoutError.is(error)) note('late')
        else if (!over.aborted) throw error
        return undefined
      })
      if (entry !== undefined) await stay(stage, entry, note, turn)
      await gone()
      // Mostly too few are there: so one that enters too early is noticed.
      await sleep(Math.random() * REST, undefined, { signal: over }).catch(() => {})
    }
    return { member: visit }
  },
  judge(notes) {
    const visits = visitsOf(notes)
    const entered = visits.filter(({ steps }) => steps.has('entered'))
    const wait = (what: 'entered' | 'left', since: 'entering' | 'leaving') =>
      visits
        .map(({ steps }) => (steps.get(what)?.at ?? 0) - (steps.get(since)?.at ?? 0))
        .reduce((one, other) => Math.max(one, other), 0)
    const others = notes.filter(({ what }) => what === 'late' || what === 'lost' || what === 'left')
    return {
      done: entered.length,
      unit: 'entries',
      counts: countsOf(others.map(({ what }) => what)),
      worst: { enter: wait('entered', 'entering'), leave: wait('left', 'leaving') },
      violations: [...tooFew(visits, entered), ...tooEarly(entered)],
    }
  },
}

async function stay(
  { zk }: Stage,
  entry: BarrierEntry,
  note: (what: Step['what'], session?: bigint) => void,
  turn: number,
): Promise<void> {
  const { session } = zk
  note('entered', session.id)
  await sleep(Math.random() * turn)
  try {
    // While this session lives its node is there.
    const isInside = !entry.signal.aborted && zk.session === session
    note('leaving', isInside ? session.id : undefined)
    await entry.leave()
    note('left', zk.session.id)
  } catch (error) {
    if (!KeeperError.is(error)) throw error
    note('lost')
  }
}

function visitsOf(notes: readonly Step[]): Visit[] {
  const visits: Visit[] = []
  const open = new Map<number, Map<Step['what'], Step>>()
  const close = (slot: number, to: number) => {
    const steps = open.get(slot)
    if (steps !== undefined) visits.push({ slot, steps, from: steps.get('entering')!.at, to })
    open.delete(slot)
  }
  for (const step of notes) {
    if (step.what === 'gone') close(step.slot, step.at)
    else if (step.what === 'entering') open.set(step.slot, new Map([[step.what, step]]))
    else open.get(step.slot)?.set(step.what, step)
  }
  for (const slot of open.keys()) close(slot, Infinity)
  return visits
}

/** The members that entered although there were not enough at any moment since their call. */
function tooFew(visits: readonly Visit[], entered: readonly Visit[]): string[] {
  return entered.flatMap(({ from, steps }) => {
    const { at: to, contender } = steps.get('entered')!
    const beside = visits.filter((visit) => visit.from <= to && visit.to >= from)
    // Members come one by one: the most are there when one of them comes.
    const moments = [from, ...beside.map((visit) => visit.from).filter((at) => at > from)]
    const most = Math.max(...moments.map((at) => beside.filter((visit) => visit.from <= at && visit.to >= at).length))
    if (most >= SIZE) return []
    return [`${contender} entered, ${from.toFixed(1)} to ${to.toFixed(1)}, with ${most} members at most`]
  })
}

/** The members that went while another was inside that had entered before they called `leave`. */
function tooEarly(entered: readonly Visit[]): string[] {
  return entered.flatMap(({ slot, steps }) => {
    const leaving = steps.get('leaving')
    const left = steps.get('left')
    if (leaving === undefined || left === undefined) return []
    const inside = entered.filter((other) => {
      const last = other.steps.get('leaving')
      // In the same session from the entry until after the other has left: its node was there.
      const { at, session } = other.steps.get('entered')!
      const isSame = last?.session === session && other.steps.get('left')?.session === session
      return other.slot !== slot && at < leaving.at && isSame && last!.at > left.at
    })
    return inside.map(
      (other) =>
        `${leaving.contender} left at ${left.at.toFixed(1)}, and ${other.steps.get('entered')!.contender} was inside`,
    )
  })
}
