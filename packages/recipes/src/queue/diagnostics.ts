// The messages that recipes publish on `node:diagnostics_channel` and log with the client's logger. If there is no subscriber and
// no logger, no message is made.
import { channel } from 'node:diagnostics_channel'
import type { LogLevel, ZooKeeper } from '@zk/client'
import { CallChannels, hex, logWith, publish } from '@zk/client/internal'
import type { LostErrorCode } from '../errors/lost-error.ts'
import type { Slowness } from '../lease/slow-answers.ts'

/** The fields of all messages. */
interface Contention {
  /** The name of the client: see `advanced.name` in the options of `connect`. */
  readonly client: string
  /** The path of the lock or the election; all paths of a `MultiLock`, with commas between them. */
  readonly path: string
  /** `lock`, `latch`, `read`, `write`, `semaphore` or `multi`. */
  readonly kind: string
}

/** The fields of messages about a hold. */
interface HoldMessage extends Contention {
  /** The path of the contender's node; of the first, if it has several. */
  readonly node: string
  /** The fencing token, which is greater than the token of every earlier holder. */
  readonly fencingToken: bigint
}

/**
 * One `acquire`, `tryAcquire`, or `campaign`; `run` and `terms` make such calls, too. All events of the call have the same message
 * object. The events are those of a `TracingChannel` named `zk:acquire`: `start` in the caller's async context, `end` right after
 * it, `error` if the call fails, `asyncStart` and `asyncEnd` when it has settled.
 */
export interface AcquireMessage extends Contention {
  /** How many contenders were ahead when it was last queued; undefined if it did not have to wait for others. */
  position: number | undefined
  /** This and the fields below are undefined until the call has settled. `waited` is the time since the call, in ms. */
  waited: number | undefined
  /**
   * `busy`: `tryAcquire` has found the lock taken. `timeout`: it rejects with a `WaitTimeoutError`. `aborted`: its signal has
   * aborted. `failed`: it rejects with another error.
   */
  outcome: 'granted' | 'busy' | 'timeout' | 'aborted' | 'failed' | undefined
  /** The path of the contender's node, if it was granted; of the first, if it has several. */
  node: string | undefined
  /** The error of the call; undefined if it was granted or busy. */
  error: unknown
}

/** The diagnostics channels of the recipes, by name, with their messages. */
export interface RecipeMessages {
  /**
   * The sequence counter of the path is used up, or has less than a million numbers left. Clients of other libraries that queue
   * there may then hold at the same time. All contenders should move to a new path. Each lock or election publishes this once.
   * `sequence` is the counter in the name of the contender's node.
   */
  'zk:exhausted': Contention & { readonly sequence: number }
  /**
   * A server refused to delete a contender's node after a release, an abort or a timeout: with `NoAuth` if the path does not
   * grant DELETE. The contenders behind this node wait for it. Published once for each node. The delete is repeated each
   * second, until the node is gone or the session has ended.
   */
  'zk:orphan': Contention & { readonly node: string; readonly error: unknown }
  /** The contender waits, because others are ahead. */
  'zk:queued': Contention & { readonly position: number; readonly ahead: readonly string[] }
  /** The contender was granted. `waited` is the time from the call to the grant, in ms. */
  'zk:acquired': HoldMessage & { readonly waited: number; readonly leaseRemaining: number }
  /** The connection was lost during a hold. Unless the hold is confirmed again, it ends after `leaseRemaining` ms. */
  'zk:suspended': HoldMessage & { readonly leaseRemaining: number }
  /** A suspended hold is confirmed again. `leaseRemaining` is the time left on its lease, in ms. */
  'zk:resumed': HoldMessage & { readonly leaseRemaining: number }
  /** The holder released its hold after `held` ms. Published when `release` is called, before the servers answer. */
  'zk:released': HoldMessage & { readonly held: number }
  /**
   * The hold ended in another way, which was noticed after `held` ms. For the reason `LeaseLost`, the lease had ended
   * `leaseEndedAgo` ms before it was noticed: much earlier if the process was paused. For `Refused`, `err` is the answer of the
   * servers.
   */
  'zk:lost': HoldMessage & {
    readonly held: number
    readonly reason: LostErrorCode
    readonly leaseEndedAgo?: number | undefined
    readonly err?: unknown
  }
}

type Line = readonly [level: LogLevel, text: string]

/**
 * The line of each message in the log. Locks and elections have the same text, so one alert is enough for both. The field
 * `kind` distinguishes them.
 */
const lines = {
  'zk:exhausted': ['warn', 'is on a path whose counter is used up, or nearly so'],
  'zk:orphan': ['error', 'has left a node that cannot be deleted'],
  'zk:queued': ['debug', 'queued'],
  // A program may take a thousand locks each second: what goes as it should is for a closer look.
  'zk:acquired': ['debug', 'acquired'],
  'zk:suspended': ['warn', 'suspended: the connection is lost, it is still held'],
  'zk:resumed': ['info', 'resumed: it is confirmed again'],
  'zk:released': ['debug', 'released'],
  'zk:lost': ['error', 'lost'],
} as const satisfies Record<keyof RecipeMessages, Line>

export const acquisitions = new CallChannels('zk:acquire')

const channels = new Map(Object.keys(lines).map((name) => [name, channel(name)]))

/** The line for `zk:acquired` if others were ahead: a lock has passed on, or another process leads. */
export const contended: Line = ['info', 'acquired']

/** The line for `zk:lost` if the holder itself has downgraded the hold, which is not a reason for an alert. */
export const downgraded: Line = ['info', 'downgraded']

/** Publishes a message on its channel, and logs it with the client's logger as this line. `kind` is a field of the message. */
export function report<Name extends keyof RecipeMessages>(
  zk: ZooKeeper,
  name: Name,
  kind: string,
  message: () => Omit<RecipeMessages[Name], 'client' | 'kind'>,
  [level, text]: Line = lines[name],
): void {
  const published = channels.get(name)!
  if (published.hasSubscribers) publish(published, { client: zk.name, kind, ...message() })
  logWith(zk, level, `lock ${text}`, () => asFields({ kind, ...message() }))
}

/** Logs that a hold was released `after` ms after its loss: until then the work went on. No channel has this message. */
export function logLateRelease(
  zk: ZooKeeper,
  kind: string,
  message: { path: string; node: string; fencingToken: bigint; after: number },
): void {
  logWith(zk, 'warn', 'lock released long after its loss: the work went on', () => asFields({ kind, ...message }))
}

/**
 * Logs that a lease was proven too late: each answer takes `answers` ms, and may take `within` ms. Called once for each contender. No
 * channel has this message.
 */
export function logSlowAnswers(
  zk: ZooKeeper,
  kind: string,
  { path, answers, within, T }: { readonly path: string } & Slowness,
): void {
  const times = () => ({ answers: Math.round(answers), within: Math.floor(within), sessionTimeout: T })
  logWith(zk, 'warn', 'lock not granted: answers are too slow for a lease', () => ({ kind, path, ...times() }))
}

/** The fields of a message for the logger: the token as text, and the error as `err`. */
function asFields(message: { error?: unknown; fencingToken?: bigint; kind: string }): object {
  const { error, fencingToken, ...fields } = message
  const token = fencingToken === undefined ? {} : { fencingToken: hex(fencingToken) }
  return { ...fields, ...token, ...(error !== undefined && { err: error }) }
}
