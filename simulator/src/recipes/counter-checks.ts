// Counter: the value in the log against the results of its calls. Each change adds a power of 4 of its own.
import type { Recorded } from '../history/history.ts'
import { executedParts } from '../history/executed-parts.ts'
import type { Played } from '../history/played.ts'
import { PATH } from '../play/paths.ts'
import type { Count } from '../history/steps.ts'
import { killedClients } from '../checks/attempts.ts'
import type { Check, Violation } from '../checks/check.ts'
import { latestEnd } from '../checks/times.ts'

type Counted = Extract<Recorded, { type: 'counted' }>

interface CountCall {
  readonly count: Count
  readonly client: number
  readonly at: number
  readonly within: number
  readonly session: bigint
  readonly counted: Counted | undefined
}

/** A committed change of the value. */
interface Change {
  readonly from: bigint
  readonly to: bigint
  /** The node in which it was: it may have been deleted and made again. */
  readonly life: number
}

const digitOf = ({ number }: Count) => 4n ** BigInt(number)
const isIn = (sum: bigint, digit: bigint) => (sum / digit) % 4n

/** C1: every committed write adds each of some changes once: none is overwritten, and none is added to an old value. */
export const everyWriteAdds: Check = (played) =>
  changesOf(played).flatMap(({ from, to }): Violation[] => {
    const isSum = to >= from && /^[01]+$/.test((to - from).toString(4))
    return isSum
      ? []
      : [{ invariant: 'C1', at: undefined, what: `${from.toString(4)} became ${to.toString(4)} (base 4)` }]
  })

/**
 * C2: a change that resolved has happened once, with that result. One that says that it has not happened has not, and does
 * not later. Any other has happened once at most. (What happened to a node that was deleted afterwards is gone with it.)
 */
export const changesOnce: Check = (played) => {
  const changes = changesOf(played)
  return callsOf(played).flatMap(({ count, counted }): Violation[] => {
    if (count.how === 'get') return []
    const digit = digitOf(count)
    const of = changes.filter(({ from, to }) => isIn(to - from, digit) === 1n)
    const wrong = (what: string): Violation[] => [
      { invariant: 'C2', at: counted?.at, what: `change ${count.number} ${what}` },
    ]
    if (new Set(of.map(({ life }) => life)).size < of.length) return wrong(`happened ${of.length} times`)
    const last = of.filter(({ life }) => life === changes.at(-1)?.life)
    const outcome = counted?.outcome
    if (outcome?.how === 'resolved' && !of.some((change) => isResult(outcome.value, digit, change))) {
      return wrong(`resolved with ${outcome.value}, and no write had this result`)
    }
    if (outcome?.how === 'rejected' && !outcome.outcomeUnknown && last.length > 0) {
      return wrong(`happened, and its error says that it did not: ${outcome.error}`)
    }
    return []
  })
}

/** A write may add the changes of several calls: the result of one has its own and those before it. */
function isResult(value: bigint, digit: bigint, { from, to }: Change): boolean {
  const added = value - from
  const others = to - value
  return added >= 0n && others >= 0n && isIn(added, digit) === 1n && isIn(others, digit) === 0n
}

/**
 * C3: no read goes back in one session, after other reads and after changes that were confirmed. It is not checked if an
 * operator deleted the counter.
 */
export const readsNeverGoBack: Check = (played) => {
  if (played.history.some((each) => each.type === 'struck' && each.fault.type === 'deleteParent')) return []
  const calls = callsOf(played)
  return calls.flatMap((read): Violation[] => {
    const seen = resolvedIn(read)
    if (read.count.how !== 'get' || seen === undefined) return []
    const earlier = calls.filter(
      (each) =>
        each.client === read.client && each.session === read.session && (each.counted?.at ?? Infinity) < read.at,
    )
    const newest = earlier.map((each) => resolvedIn(each) ?? 0n).reduce((one, other) => (one > other ? one : other), 0n)
    return seen >= newest ? [] : [{ invariant: 'C3', at: read.at, what: `${seen} was read behind ${newest}` }]
  })
}

/** undefined if it failed, or ended in another session. */
function resolvedIn({ session, counted }: CountCall): bigint | undefined {
  return counted?.session === session && counted.outcome.how === 'resolved' ? counted.outcome.value : undefined
}

/** C4: every call settles within its time, and fails only with a cause. It may be late by the time that processes stood still. */
export const countedInTime: Check = (played) => {
  const killed = killedClients(played)
  return callsOf(played).flatMap(({ count, client, at, within, counted }): Violation[] => {
    const wrong = (what: string): Violation[] => [{ invariant: 'C4', at: counted?.at, what: `${count.how} ${what}` }]
    if (counted === undefined) return killed.has(client) ? [] : wrong(`of client ${client} came to no end`)
    const late = counted.at - latestEnd(played, at, within)
    if (late > 0) return wrong(`settled ${late} ms too late`)
    const { outcome } = counted
    const mayFail = outcome.how !== 'rejected' || CAUSES.test(outcome.error)
    return mayFail ? [] : wrong(`failed: ${outcome.error}`)
  })
}

const CAUSES = /RequestTimeout|ConnectionLoss|SessionExpired/

function callsOf({ history }: Played): CountCall[] {
  const settled = new Map(history.flatMap((each) => (each.type === 'counted' ? [[each.call, each] as const] : [])))
  return history.flatMap((each) => (each.type === 'counting' ? [{ ...each, counted: settled.get(each.call) }] : []))
}

/** The committed changes of the counter's value, in order. */
function changesOf({ committed }: Played): Change[] {
  const changes: Change[] = []
  let life = 0
  let value = 0n
  for (const part of committed.flatMap(({ txn }) => executedParts(txn))) {
    if (!('path' in part) || part.path !== PATH) continue
    if (part.type === 'create') {
      life++
      value = valueIn(part.data)
    } else if (part.type === 'setData') {
      const to = valueIn(part.data)
      changes.push({ from: value, to, life })
      value = to
    }
  }
  return changes
}

function valueIn(data: Uint8Array | null): bigint {
  return data === null || data.byteLength === 0
    ? 0n
    : new DataView(data.buffer, data.byteOffset, data.byteLength).getBigInt64(0)
}
