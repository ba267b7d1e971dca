// The messages that recipes publish by `node:diagnostics_channel` and log with the client's logger. Without a subscriber and
// a logger they cost nothing.
import { channel } from 'node:diagnostics_channel'
import type { LogLevel, ZooKeeper } from '@zk/client'
import { hex, logWith, publish } from '@zk/client/internal'
import type { LossReason } from './errors.ts'

/** The fields of all messages. */
interface Contention {
  /** The path of the lock or the election. */
  readonly path: string
  /** `lock`, `latch`, `read` or `write`. */
  readonly kind: string
}

/** The fields of messages about a hold. */
interface HoldMessage extends Contention {
  /** The path of the contender's node. */
  readonly node: string
  /** The fencing token, greater than that of every holder before. */
  readonly fencingToken: bigint
}

/** The diagnostics channels of the recipes, by name, with their messages. */
export interface RecipeMessages {
  /**
   * The sequence counter of the path is used up, or within a million of that. Other clients that queue there may let several
   * of them hold. All contenders should move to a new path. Published once by each lock or election. `sequence` is the number
   * that shows it.
   */
  'zk:exhausted': Contention & { readonly sequence: number }
  /**
   * The delete of a contender's node was refused after a release, an abort or a timeout: with `NoAuth` where the path does
   * not grant DELETE. The node is in the way of every contender behind it. It is reported once for a node. The delete is
   * repeated each second, until the node is gone or the session over.
   */
  'zk:orphan': Contention & { readonly node: string; readonly error: unknown }
  /** The contender waits: others are ahead. */
  'zk:queued': Contention & { readonly position: number; readonly ahead: readonly string[] }
  /** The contender was granted. `waited` is the time from the call to the grant, in ms. */
  'zk:acquired': HoldMessage & { readonly waited: number; readonly leaseRemaining: number }
  /** The connection was lost during a hold. The hold goes on for `leaseRemaining` ms at most, unless it is confirmed. */
  'zk:suspended': HoldMessage & { readonly leaseRemaining: number }
  /** A suspended hold is confirmed again. `leaseRemaining` is its lease, in ms. */
  'zk:resumed': HoldMessage & { readonly leaseRemaining: number }
  /** The holder released it after `held` ms. Published at the call of `release`, before its answer. */
  'zk:released': HoldMessage & { readonly held: number }
  /**
   * The hold ended in any other way, and that was noticed after `held` ms. `leaseEndedAgo`: for `LeaseLost`, how many ms before that its
   * lease had ended. They are many where the process stood still.
   */
  'zk:lost': HoldMessage & {
    readonly held: number
    readonly reason: LossReason
    readonly leaseEndedAgo?: number | undefined
  }
}

const channels = {
  'zk:exhausted': channel('zk:exhausted'),
  'zk:orphan': channel('zk:orphan'),
  'zk:queued': channel('zk:queued'),
  'zk:acquired': channel('zk:acquired'),
  'zk:suspended': channel('zk:suspended'),
  'zk:resumed': channel('zk:resumed'),
  'zk:released': channel('zk:released'),
  'zk:lost': channel('zk:lost'),
} as const satisfies Record<keyof RecipeMessages, unknown>

type Line = readonly [level: LogLevel, text: string]

/**
 * The line of each message in the log. Locks and elections have the same text, so one alert finds both. The field `kind`
 * distinguishes them.
 */
const lines = {
  'zk:exhausted': ['warn', 'is on a path whose counter is used up, or nearly so'],
  'zk:orphan': ['error', 'has left a node that cannot be deleted'],
  'zk:queued': ['debug', 'queued'],
  'zk:acquired': ['info', 'acquired'],
  'zk:suspended': ['warn', 'suspended: the connection is lost, it is held on'],
  'zk:resumed': ['info', 'resumed: it is confirmed again'],
  'zk:released': ['info', 'released'],
  'zk:lost': ['error', 'lost'],
} as const satisfies Record<keyof RecipeMessages, Line>

/** The line of a hold that its holder has downgraded: that is no loss to alert on. */
export const downgraded: Line = ['info', 'downgraded']

/** Reports to the client's logger, with this line, and to subscribers. `kind` is that of the message. */
export function report<Name extends keyof RecipeMessages>(
  zk: ZooKeeper,
  name: Name,
  kind: string,
  message: () => Omit<RecipeMessages[Name], 'kind'>,
  [level, text]: Line = lines[name],
): void {
  const whole = () => ({ kind, ...message() })
  if (channels[name].hasSubscribers) publish(channels[name], whole())
  logWith(zk, level, `lock ${text}`, () => asFields(whole()))
}

/** Logs that a hold was released `after` ms after its loss: until then the work went on. No channel has it. */
export function logLateRelease(
  zk: ZooKeeper,
  kind: string,
  message: { path: string; node: string; fencingToken: bigint; after: number },
): void {
  logWith(zk, 'warn', 'lock released long after its loss: the work went on', () => asFields({ kind, ...message }))
}

/** The fields of the message, for JSON. */
function asFields(message: { error?: unknown; fencingToken?: bigint; kind: string }): object {
  const { error, fencingToken, ...fields } = message
  const token = fencingToken === undefined ? {} : { fencingToken: hex(fencingToken) }
  return { ...fields, ...token, ...(error !== undefined && { err: error }) }
}
