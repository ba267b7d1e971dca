// Barrier and DoubleBarrier: the results of their calls against the nodes that existed.
import type { Txn } from '@zk/testing'
import { WALL_START } from '@zk/testing/internal'
import type { Recorded } from '../history/history.ts'
import type { Played } from '../history/played.ts'
import type { Life } from '../history/server-log.ts'
import { PATH } from '../play/paths.ts'
import type { ClientPlan, Scenario } from '../scenario/scenario.ts'
import { killedClients } from '../checks/attempts.ts'
import type { Check, InvariantId, Violation } from '../checks/check.ts'
import { nothingLeft } from '../checks/orphans.ts'
import { COMMIT_ROUNDING, latestEnd } from '../checks/times.ts'

type Passed = Extract<Recorded, { type: 'passed' }>
type Call = Extract<Recorded, { type: 'passing' }> & { readonly passed: Passed | undefined }

/** A time in which the barrier was closed, as the log of the ensemble shows it. */
interface Closed {
  readonly from: number
  /** When all calls of `set` that were made by then had resolved: from then on it was committed. */
  readonly known: number
  readonly until: number
}

/**
 * B1: a call that resolved has seen what it is for: the barrier was open at some moment of a `wait` and of a `remove`, and closed at
 * some moment of a `set`.
 */
export const passedWhileOpen: Check = (played) => {
  const closed = closedTimes(played)
  return callsOf(played).flatMap(({ what, at, passed }): Violation[] => {
    if (passed?.outcome.how !== 'resolved') return []
    const [from, until] = [at - COMMIT_ROUNDING, passed.at + COMMIT_ROUNDING]
    const overlapping = closed.filter((each) => each.from <= until && each.until >= from)
    const wasOpen = !overlapping.some((each) => each.known < from && each.until > until)
    const isRight = what === 'set' ? overlapping.length > 0 : wasOpen
    return isRight ? [] : [{ invariant: 'B1', at: passed.at, what: `a ${what} resolved that had no cause` }]
  })
}

/**
 * B2: no `remove` opens a barrier twice. No call waits at an open barrier: if a `wait` did not end, or timed out, the barrier was
 * closed all the time since the last fault.
 */
export const openedOnce: Check = (played) => {
  const closed = closedTimes(played)
  const killed = killedClients(played)
  const calls = callsOf(played)
  const waits = calls.flatMap(({ what, at, client, passed }): Violation[] => {
    const isUnheard =
      passed === undefined || (passed.outcome.how === 'rejected' && /Timeout/.test(passed.outcome.error))
    if (what !== 'wait' || killed.has(client) || !isUnheard) return []
    const late = expiry(played)
    const [from, until] = [Math.max(at, played.calmAt), (passed?.at ?? played.end.at) - late]
    const wasClosed = until <= from || closed.some((each) => each.from <= from + COMMIT_ROUNDING && each.until >= until)
    return wasClosed ? [] : [{ invariant: 'B2', at: passed?.at ?? played.end.at, what: `client ${client} waited on` }]
  })
  const removes = calls.filter(({ what }) => what === 'remove').length
  const opened = closed.filter(({ until }) => until < Infinity).length
  const isForced = played.history.some((each) => each.type === 'struck' && each.fault.type === 'deleteParent')
  const twice: Violation[] =
    opened > removes && !isForced
      ? [{ invariant: 'B2', at: undefined, what: `${removes} removes opened it ${opened} times` }]
      : []
  return [...waits, ...twice]
}

/** I15, unless a client still waits: the one that closed the barrier may have been killed. */
export const nothingLeftBesideWaits: Check = (played) =>
  callsOf(played).some(({ passed }) => (passed?.at ?? Infinity) > played.end.at) ? [] : nothingLeft(played)

/** D1: when `enter` resolves, there were `size` members at one moment since its own node was there. */
export const insideTogether: Check = (played) => {
  const members = membersOf(played)
  return callsOf(played).flatMap(({ what, passed }): Violation[] => {
    if (what !== 'enter' || passed?.outcome.how !== 'resolved') return []
    const { value } = passed.outcome
    const own = members.findLast(({ path, createdAt }) => path === value && createdAt <= passed.at + COMMIT_ROUNDING)
    if (own === undefined) return [{ invariant: 'D1', at: passed.at, what: 'entered without a node' }]
    const size = sizeOf(played)
    // The number is highest right after a member has entered.
    const isMet = members.some(
      ({ czxid, createdAt }) =>
        czxid >= own.czxid && createdAt <= passed.at + COMMIT_ROUNDING && countAt(members, czxid) >= size,
    )
    return isMet ? [] : [{ invariant: 'D1', at: passed.at, what: `${own.path} entered before ${size} were there` }]
  })
}

/** D2: no member waits to enter if enough are there: since the last fault, for 2 T + 5 s. */
export const openings: Check = (played) => {
  const size = sizeOf(played)
  const members = membersOf(played)
  const calls = callsOf(played)
  const late = 2 * played.scenario.sessionTimeout + 5_000
  return calls.flatMap(({ what, at, client, passed }): Violation[] => {
    if (what !== 'enter' || passed?.outcome.how !== 'rejected' || !passed.outcome.error.includes('WaitTimeout'))
      return []
    const from = Math.max(at, played.calmAt)
    if (passed.at - late <= from) return []
    const waiting = members.filter(
      ({ createdAt, end }) => createdAt <= passed.at - late && (end?.at ?? Infinity) >= passed.at,
    )
    return waiting.length < size
      ? []
      : [{ invariant: 'D2', at: passed.at, what: `client ${client} waited while ${waiting.length} were there` }]
  })
}

/**
 * D2: when `leave` resolves, the nodes of all others that had entered by its call are gone. (Its own may stay for as long as the
 * servers keep a session that its client has given up.)
 */
export const leftTogether: Check = (played) => {
  const calls = callsOf(played)
  const entered = calls.flatMap(({ what, passed }) =>
    what === 'enter' && passed?.outcome.how === 'resolved' ? [{ path: passed.outcome.value, at: passed.at }] : [],
  )
  return calls.flatMap(({ what, at, about, passed }): Violation[] => {
    if (what !== 'leave' || passed?.outcome.how !== 'resolved') return []
    const endOf = (path: string) => played.log.lives.get(path)?.end?.at ?? Infinity
    const stayed = entered.filter(
      (each) => each.path !== about && each.at < at && endOf(each.path) > passed.at + COMMIT_ROUNDING,
    )
    return stayed.map(({ path }) => ({
      invariant: 'D2',
      at: passed.at,
      what: `a leave resolved before ${path} was gone`,
    }))
  })
}

/**
 * D2: no member waits to leave where no other is inside: since the last fault, for 2 T + 5 s. Members that wait to enter do not
 * count. Those of killed clients may have entered: they are there until their sessions expire.
 */
export const departures: Check = (played) => {
  const calls = callsOf(played)
  const entered = new Set(
    calls.flatMap(({ what, passed }) =>
      what === 'enter' && passed?.outcome.how === 'resolved' ? [passed.outcome.value] : [],
    ),
  )
  const inside = membersOf(played).filter(({ path }) => entered.has(path))
  const late = expiry(played)
  return calls.flatMap(({ what, at, client, about, passed }): Violation[] => {
    if (what !== 'leave' || passed === undefined) return []
    const others = inside.filter((each) => each.path !== about && each.createdAt <= passed.at)
    const alone = Math.max(at, played.calmAt, ...others.map(({ end }) => end?.at ?? Infinity))
    if (passed.at - late <= alone) return []
    return [{ invariant: 'D2', at: passed.at, what: `client ${client} waited to leave while no other was inside` }]
  })
}

const CAUSES = /WaitTimeout|RequestTimeout|SessionExpired|Closed/
/** A member that leaves may find that its node was deleted. */
const CAUSES_OF_LEAVE = /NoNode/

/** B3, D3: every call settles within its time, and fails only with a cause. It may be late by the time that processes stood still. */
export function callsInTime(invariant: InvariantId): Check {
  return (played) =>
    callsOf(played).flatMap(({ what, at, within, passed }): Violation[] => {
      if (passed === undefined) return []
      const late = passed.at - latestEnd(played, at, within)
      if (late > 0) return [{ invariant, at: passed.at, what: `${what} settled ${late} ms too late` }]
      const { outcome } = passed
      if (outcome.how !== 'rejected' || CAUSES.test(outcome.error)) return []
      if (what === 'leave' && CAUSES_OF_LEAVE.test(outcome.error)) return []
      return [{ invariant, at: passed.at, what: `${what} failed: ${outcome.error}` }]
    })
}

function callsOf({ history }: Played): Call[] {
  const passed = new Map(history.flatMap((each) => (each.type === 'passed' ? [[each.call, each] as const] : [])))
  return history.flatMap((each) => (each.type === 'passing' ? [{ ...each, passed: passed.get(each.call) }] : []))
}

/** A time in ms in which all sessions of killed clients expire. */
function expiry({ scenario: { sessionTimeout, clients } }: Played): number {
  const longest = clients.flatMap(({ handOvers = [] }) => handOvers.map((each) => each.sessionTimeout))
  return 2 * Math.max(sessionTimeout, ...longest) + 5_000
}

function sizeOf({ scenario }: Played): number {
  const { clients } = scenario as Scenario<
    ClientPlan & { readonly steps: readonly (readonly { readonly size: number }[])[] }
  >
  return Math.max(...clients.flatMap(({ steps }) => steps.flat().map(({ size }) => size)))
}

/** Also those whose node was made again: a create whose answer was lost is repeated under the same name. */
function membersOf({ log }: Played): Life[] {
  return log.below(PATH, log.all).filter(({ path }) => !path.endsWith('/ready'))
}

/** How many were there when the transaction with this zxid was executed. */
function countAt(members: readonly Life[], zxid: bigint): number {
  return members.filter(({ czxid, end }) => czxid <= zxid && (end?.zxid ?? zxid + 1n) > zxid).length
}

function closedTimes(played: Played): Closed[] {
  const { committed } = played
  const sets = callsOf(played).filter(({ what }) => what === 'set')
  const known = (from: number) => {
    const confirmed = sets.flatMap(({ at, passed }) =>
      at <= from + COMMIT_ROUNDING && (passed?.at ?? Infinity) >= from ? [toldAt(passed)] : [],
    )
    // The client that had it closed may have given up long before.
    return confirmed.length === 0 ? Infinity : Math.max(...confirmed)
  }
  const closed: Closed[] = []
  let from: number | undefined
  for (const { header, txn } of committed) {
    const at = header.time - WALL_START
    if (!isOfBarrier(txn)) continue
    if (txn.type === 'create') from = at
    else if (from !== undefined) {
      closed.push({ from, known: known(from), until: at })
      from = undefined
    }
  }
  return from === undefined ? closed : [...closed, { from, known: known(from), until: Infinity }]
}

/** Never if it failed: it may have happened later. */
function toldAt(passed: Passed | undefined): number {
  return passed?.outcome.how === 'resolved' ? passed.at : Infinity
}

function isOfBarrier(txn: Txn): txn is Extract<Txn, { type: 'create' | 'delete' }> {
  return (txn.type === 'create' || txn.type === 'delete') && txn.path === PATH
}
