// once: the records in the log against the results of its calls, and against the bodies that ran.
import { WALL_START } from '@zk/testing/internal'
import { executedParts } from '../history/executed-parts.ts'
import type { Recorded } from '../history/history.ts'
import type { Played } from '../history/played.ts'
import { PATH } from '../play/paths.ts'
import type { ClientPlan } from '../scenario/scenario.ts'
import { heldOnTrust, killedClients } from '../checks/attempts.ts'
import type { Check, Violation } from '../checks/check.ts'
import { COMMIT_ROUNDING, latestEnd } from '../checks/times.ts'
import type { SteppingClient } from './steps/index.ts'

const RECORD = `${PATH}/done`

export type Period = { readonly slot: string } | { readonly every: number }

/** A committed record, as JSON has it. */
interface Record {
  readonly slot: string
  readonly at: string
  readonly label: string
  readonly fencingToken: string
}

interface CommittedRecord extends Record {
  readonly token: bigint
  readonly zxid: bigint
  /** When it was committed. */
  readonly committedAt: number
  /** When it was replaced or deleted. */
  until: number
  isDeleted: boolean
  /** The paths that the same transaction has checked. */
  readonly checked: readonly string[]
  /** The record that it replaced; undefined if there was none. */
  readonly before: CommittedRecord | undefined
}

type Passed = Extract<Recorded, { type: 'passed' }>
type Call = Extract<Recorded, { type: 'passing' }> & { readonly passed: Passed | undefined }

/** O1: no record replaces one of the same period, or with `every` of a later one. */
export const oneRecordInEach: Check = (played) => {
  const every = everyOf(played)
  const period = ({ at }: Record) => Math.floor(Date.parse(at) / every!)
  return recordsOf(played).flatMap((record): Violation[] => {
    const { before, committedAt: at } = record
    if (before === undefined) return []
    const isTwice = every === undefined ? before.slot === record.slot : period(before) >= period(record)
    return isTwice ? [{ invariant: 'O1', at, what: `${record.slot} was recorded after ${before.slot}` }] : []
  })
}

/** O2: the transaction of a record has checked the node with its token, which existed; `at` is the time of this node. */
export const recordsAreProven: Check = (played) => {
  const { log } = played
  return recordsOf(played).flatMap((record): Violation[] => {
    const { token, zxid, checked, committedAt: at } = record
    const life = log.all.find(({ czxid }) => czxid === token)
    const exists = life !== undefined && (life.end === undefined || life.end.zxid >= zxid)
    const isProven = exists && checked.includes(life.path)
    if (!isProven) return [{ invariant: 'O2', at, what: `the record of call ${record.label} is not proven` }]
    const created = Date.parse(record.at) - WALL_START
    return created === life.createdAt
      ? []
      : [{ invariant: 'O2', at, what: `the record of call ${record.label} has another time than its node` }]
  })
}

/**
 * O3: a call that says that it ran is recorded; one that says `done` has seen that record; one that says `running` was not alone. A
 * call that rejected is not recorded, unless its error leaves that open, or an operator has deleted the record before it rejected.
 */
export const resultsAreRecorded: Check = (played) => {
  const records = recordsOf(played)
  return callsOf(played, 'once').flatMap(({ about, at, passed }): Violation[] => {
    if (passed === undefined) return []
    const wrong = (what: string): Violation[] => [{ invariant: 'O3', at: passed.at, what: `call ${about} ${what}` }]
    const { outcome } = passed
    const own = records.find(({ label }) => label === about)
    if (outcome.how !== 'resolved') {
      const isOpen = outcome.how === 'rejected' && outcome.outcomeUnknown
      // Then the record is gone by now, and nobody can see that there was one.
      const isGone = own?.isDeleted === true && own.until <= passed.at + COMMIT_ROUNDING
      return own === undefined || isOpen || isGone ? [] : wrong('is recorded, and failed')
    }
    const [what, token] = outcome.value.split(' ')
    if (what === 'ran') return String(own?.token) === token ? [] : wrong('says that it ran, and is not recorded')
    if (own !== undefined) return wrong(`is recorded, and says ${what}`)
    if (what === 'done') {
      const seen = records.find((each) => String(each.token) === token)
      return seen !== undefined && seen.committedAt <= passed.at ? [] : wrong('says done, without a record')
    }
    const others = played.log.all.filter(({ path, data }) => path.startsWith(`${PATH}/_c_`) && data !== about)
    const isBeside = others.some(
      ({ createdAt, end }) =>
        createdAt <= passed.at + COMMIT_ROUNDING && (end?.at ?? Infinity) >= at - played.scenario.sessionTimeout,
    )
    return isBeside ? [] : wrong('says that another one was running')
  })
}

/**
 * O4: no body of a period begins while a run of that period is the last that is recorded. It is not checked for a hold that cannot
 * know in time that it is lost, as for I1.
 */
export const bodiesBeforeRecords: Check = (played) => {
  const records = recordsOf(played)
  const onTrust = heldOnTrust(played)
  return callsOf(played, 'body').flatMap(({ about, at }): Violation[] => {
    const { path, slot, label } = JSON.parse(about!) as { path: string; slot: string; label: string }
    if (onTrust.has(path)) return []
    const present = records.find(({ committedAt, until }) => committedAt + COMMIT_ROUNDING < at && at < until)
    if (present === undefined || present.slot !== slot) return []
    return [{ invariant: 'O4', at, what: `call ${label} began ${slot}, which call ${present.label} had recorded` }]
  })
}

/** A call that finds another one ahead resolves. */
const CAUSES =
  /of the body|LostError|WaitTimeoutError.*: (?:no contender|it was)|RequestTimeout|SessionExpired|ConnectionLoss/

/** O5: every call settles within its time, and fails only with a cause. It may be late by the time that processes stood still. */
export const onceInTime: Check = (played) => {
  const killed = killedClients(played)
  return callsOf(played, 'once').flatMap(({ about, at, client, within, passed }): Violation[] => {
    const wrong = (what: string): Violation[] => [{ invariant: 'O5', at: passed?.at, what: `call ${about} ${what}` }]
    if (passed === undefined) return killed.has(client) ? [] : wrong('came to no end')
    const late = passed.at - latestEnd(played, at, within)
    if (late > 0) return wrong(`settled ${late} ms too late`)
    const { outcome } = passed
    return outcome.how !== 'rejected' || CAUSES.test(outcome.error) ? [] : wrong(`failed: ${outcome.error}`)
  })
}

function callsOf({ history }: Played, what: 'once' | 'body'): Call[] {
  const passed = new Map(history.flatMap((each) => (each.type === 'passed' ? [[each.call, each] as const] : [])))
  return history.flatMap((each) =>
    each.type === 'passing' && each.what === what ? [{ ...each, passed: passed.get(each.call) }] : [],
  )
}

/** The length of the period, if all calls have one. */
function everyOf({ scenario }: Played): number | undefined {
  const steps = (
    scenario.clients as readonly (ClientPlan & Partial<SteppingClient<{ readonly period: Period }>>)[]
  ).flatMap((client) => client.steps ?? [])
  const period = steps.flat()[0]?.period
  return period !== undefined && 'every' in period ? period.every : undefined
}

/** The records in the order of their commits. */
function recordsOf({ committed }: Played): CommittedRecord[] {
  const records: CommittedRecord[] = []
  let present: CommittedRecord | undefined
  for (const { header, txn } of committed) {
    const parts = executedParts(txn)
    const committedAt = header.time - WALL_START
    const checked = parts.flatMap((part) => (part.type === 'check' ? [part.path] : []))
    for (const part of parts) {
      if (!('path' in part) || part.path !== RECORD) continue
      if (part.type === 'delete' && present !== undefined) {
        present.until = committedAt
        present.isDeleted = true
        present = undefined
      }
      if (part.type !== 'create' && part.type !== 'setData') continue
      const record = JSON.parse(new TextDecoder().decode(part.data ?? new Uint8Array())) as Record
      const token = BigInt(record.fencingToken)
      if (present !== undefined) present.until = committedAt
      present = {
        ...record,
        token,
        zxid: header.zxid,
        committedAt,
        until: Infinity,
        isDeleted: false,
        checked,
        before: present,
      }
      records.push(present)
    }
  }
  return records
}
