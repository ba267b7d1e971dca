// A job that runs once in each period, on one of many hosts.
//
// The job's node is a `Lock`, so at most one host runs the body at a time: that argument, with its model, is the lock's. What has
// been done is in the record, a child of the job's node. The record is read under the lock, and written in one transaction with the
// check that the node of the hold exists. So nobody can have written it between the read and the write, and two runs of one period
// are never both recorded, whatever clocks, networks and processes do. A run whose hold was lost is never recorded.
import type { CallOptions, LogLevel, ZooKeeper } from '@zk/client'
import { checkKeys, hex, inJson, logWith, throwIfAborted } from '@zk/client/internal'
import { lockOptions } from '../held/checks.ts'
import { Held, isAbortOf } from '../held/held.ts'
import type { LockOptions } from '../held/lock-options.ts'
import { lostHold } from '../held/lost-hold.ts'
import { checkLimits } from '../kernel/checks.ts'
import { within } from '../kernel/limit.ts'
import { settled } from '../kernel/promises.ts'
import { retry, retryAcrossSessions } from '../kernel/retry.ts'
import { Lock } from '../lock/lock.ts'
import { type Blocker, WaitTimeoutError } from '../errors/wait-timeout-error.ts'
import { isDone, type Period, slotOf, textOf, toPeriod } from './period.ts'
import { type OnceRun, RunRecord, type Stored } from './record.ts'
import { Recording } from './recording.ts'

/** The options of `once`: one of `slot` and `every`, and how to run. */
export type OnceOptions = LockOptions & {
  /**
   * The longest wait in ms for a run of another host, counted from the call. If that run is recorded meanwhile, the call resolves
   * with `why: 'done'`; if its host dies, this call runs. With 0 it waits for no other host, but up to the session timeout for
   * servers: most jobs have nothing to do while another host runs.
   * @default 0
   */
  timeout?: number | undefined
  /** When it aborts, the call rejects with its reason, unless `body` has begun: then it is up to `body`. */
  signal?: AbortSignal | undefined
} & (
    | {
        /**
         * The name of the period, 1 to 255 characters, such as the date for which the job runs. It is compared with that of the last
         * run only, so slots must come in order.
         */
        slot: string
        every?: undefined
      }
    | {
        /** The length of the period in ms. Periods begin at its multiples since 1970-01-01T00:00Z, by the clock of ZooKeeper's leader. */
        every: number
        slot?: undefined
      }
  )

/**
 * The outcome of `once`. If the body did not run, `why` says whether a run of this period is recorded (`done`), or another call holds
 * the lock of the job, or is ahead for it (`running`).
 */
export type OnceResult<T> =
  | { readonly ran: true; readonly result: T; readonly run: OnceRun }
  | { readonly ran: false; readonly why: 'done'; readonly run: OnceRun }
  | { readonly ran: false; readonly why: 'running'; readonly blocker: Blocker | undefined }

/**
 * Does a job once in each period, on whichever host comes first. A run is recorded when its body has ended without an error. Until
 * then the job is still due: if the body throws, or its host dies, the next call in the period runs it again.
 *
 *     await once(zk, '/jobs/report', { slot: '2026-11-27' }, async (held) => { … })
 *
 * Guaranteed, whatever happens to hosts, clocks and networks, provided that slots come in order: no two runs of a period are both
 * recorded, and a run whose hold was lost is not recorded. Under the assumptions of a lock: after a run is recorded, no body of its
 * period begins. Not guaranteed: that a body which has lost its hold has stopped when another host begins. It must obey
 * `held.signal`, or give `held.fencingToken` to what it writes to. And what a body did before it failed is done again.
 *
 * With `slot` the caller names the period, and clocks do not matter. Only the last slot is remembered: a call with an earlier one
 * runs again, and then so does the next call with the later one.
 * With `every` the period is that in which the call got its place in line, by the clock of ZooKeeper's leader; the clocks of the
 * hosts do not matter. If that clock goes back, because another server leads, no period is run twice, and none is run until the
 * clock has passed the last recorded run's period. If it jumps forward, periods are skipped. A call that comes just before its
 * period begins, by that clock, belongs to the period before: call more often than once in a period.
 *
 * Rejects with the error of the body, and with a `LostError` that has the `result` of the body if the hold was lost before the
 * run was recorded. A call that rejects has recorded nothing, unless the error has `outcomeUnknown`: then it may have.
 */
export async function once<T>(
  zk: ZooKeeper,
  path: string,
  options: OnceOptions,
  body: (held: Held, run: OnceRun) => T | Promise<T>,
): Promise<OnceResult<T>> {
  checkKeys('once', options, [...lockOptions, 'slot', 'every', 'timeout', 'signal'], "{ slot: '2026-11-27' }")
  const { slot, every, timeout = 0, signal, ...others } = options
  const period = toPeriod(every, slot)
  checkLimits({ timeout, signal })
  if (others.label !== undefined && typeof others.label !== 'string') throw new TypeError('label must be a string')
  if (typeof body !== 'function') {
    throw new TypeError("once takes a function: once(zk, path, { slot: '2026-11-27' }, async (held) => { … })")
  }
  const lock = new Lock(zk, path, others)
  throwIfAborted(signal)
  const { label = '', acl } = others
  const record = new RunRecord(zk, path, acl)
  const since = zk.runtime.now()
  const done = await doneBefore(zk, record, period, { timeout: timeout === 0 ? undefined : timeout, signal })
  if (done !== undefined) return alreadyDone(zk, path, done, 'debug')
  const left = timeout === 0 ? 0 : Math.max(1, timeout - (zk.runtime.now() - since))
  let level: LogLevel = 'debug'
  // The grant of a lock that others had before is logged at `info`. Then the line that nothing runs under it is needed there, too.
  const onQueued = () => (level = 'info')
  const held = await unlessRunning(lock.acquire({ timeout: left, signal, onQueued }))
  if (!(held instanceof Held)) return held
  try {
    const { stored, at } = await look(zk, held, record)
    const last = record.parse(stored)
    if (last !== undefined && isDone(period, last, at)) {
      if (isAhead(period, last, at)) warn(zk, path, last, at)
      return alreadyDone(zk, path, last, level)
    }
    throwIfAborted(signal)
    // The process may have stood still since the grant.
    held.throwIfLost()
    const run = inJson({ slot: slotOf(period, at), at, label, fencingToken: held.fencingToken })
    const result = await call(held, () => body(held, run))
    await new Recording(zk, held, record, run).write(stored, result)
    return { ran: true, result, run }
  } finally {
    // The run is recorded, or the call has an error of its own. A refused delete is logged, and published as `zk:orphan`.
    await settled(held.release())
  }
}

/**
 * The run of this slot, if it is recorded. Hosts that come later then need no place in line, and do not block each other. With `every` only
 * a place in line shows the time.
 */
async function doneBefore(
  zk: ZooKeeper,
  record: RunRecord,
  period: Period,
  options: CallOptions,
): Promise<OnceRun | undefined> {
  if (!('slot' in period)) return undefined
  const reading = (limited: CallOptions) => retryAcrossSessions(zk, () => record.read(limited), limited.signal)
  const run = record.parse(await within({ zk, path: record.path }, 'once', options, reading))
  return run?.slot === period.slot ? run : undefined
}

/** The hold; or the result of the call if another contender was ahead for too long. */
async function unlessRunning(acquiring: Promise<Held>): Promise<Held | (OnceResult<never> & { ran: false })> {
  try {
    return await acquiring
  } catch (error) {
    if (!WaitTimeoutError.is(error, 'LockHeld', 'SlowAnswers') || error.ahead.length === 0) throw error
    return { ran: false, why: 'running', blocker: error.blocker }
  }
}

function alreadyDone(zk: ZooKeeper, path: string, run: OnceRun, level: LogLevel): OnceResult<never> {
  const { slot, label, fencingToken } = run
  logWith(zk, level, 'job already done', () => ({ path, slot, label, fencingToken: hex(fencingToken) }))
  return { ran: false, why: 'done', run }
}

/** Reads the record, which no other call can change now, and when this call got its place in line. */
async function look(zk: ZooKeeper, held: Held, record: RunRecord): Promise<{ stored: Stored | undefined; at: number }> {
  const { path, session, signal } = held
  const asking = { session, signal }
  try {
    const [stored, node] = await Promise.all([record.read(asking), retry(zk, () => zk.exists(path, asking), signal)])
    if (node !== undefined) return { stored, at: node.ctime }
  } catch (error) {
    throw held.loss?.with(undefined) ?? error
  }
  throw lostHold('NodeGone', path)
}

/** Settles as the body does; if it rejected only because the signal of the hold aborted, with the loss. */
async function call<T>(held: Held, body: () => T | Promise<T>): Promise<T> {
  try {
    return await body()
  } catch (error) {
    throw held.loss !== undefined && isAbortOf(held.signal, error) ? held.loss.with(undefined) : error
  }
}

/** Whether a whole period, or more, is left out. */
function isAhead(period: Period, { at: last }: OnceRun, at: number): boolean {
  return 'every' in period && last - at > period.every
}

function warn(zk: ZooKeeper, path: string, { at: last }: OnceRun, at: number): void {
  const message =
    "a job is not run: its last run is recorded for a later time, so the clock of ZooKeeper's leader went back"
  logWith(zk, 'warn', message, () => ({ path, now: textOf(at), last: textOf(last) }))
}
