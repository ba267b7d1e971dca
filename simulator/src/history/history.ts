// What happened, in true time and in order: what checkers look at, and what is printed.
import type { LossReason } from '@zk/recipes'
import type { Fault } from '../scenario/fault.ts'
import type { Kind, Task } from '../scenario/scenario.ts'
import type { CallHappening, Place } from './calls.ts'

/** What is attempted; a writer that goes on as a reader attempts anew. */
export type AttemptedTask = Omit<Task, 'how'> & { readonly how: Task['how'] | 'downgrade' }

/** An attempt is one call that acquires, counted from 0 through the history. */
export type Happening =
  | { readonly type: 'attempted'; readonly attempt: number; readonly client: number; readonly task: AttemptedTask }
  /** A contender is ahead; reported again after queueing anew. */
  | { readonly type: 'queued'; readonly attempt: number; readonly ahead: readonly string[] }
  | {
      readonly type: 'granted'
      readonly attempt: number
      readonly client: number
      readonly kind: Kind
      readonly path: string
      readonly fence: bigint
    }
  | { readonly type: 'asked'; readonly attempt: number; readonly isHeld: boolean }
  /** The signal of what was held aborted. */
  | { readonly type: 'lost'; readonly attempt: number; readonly reason: LossReason }
  /** It settled without a grant. */
  | { readonly type: 'refused'; readonly attempt: number; readonly why: Refusal; readonly error?: string }
  /** The release settled; with an error when it goes on in the background. A session that is over has taken the node with it. */
  | { readonly type: 'released'; readonly attempt: number; readonly isSessionOver: boolean; readonly error?: string }
  /** A guarded write settled: one that made an entry below `/set`. */
  | { readonly type: 'guarded'; readonly attempt: number; readonly entry: string | undefined; readonly error?: string }
  /** A write arrived at the resource that checks fences. */
  | {
      readonly type: 'fenced'
      readonly attempt: number
      readonly kind: Kind
      readonly fence: bigint
      readonly isAccepted: boolean
    }
  | { readonly type: 'done'; readonly attempt: number }
  | { readonly type: 'struck'; readonly fault: Fault }
  | { readonly type: 'healed'; readonly fault: Fault }
  /** An operator took away what these nodes, or the nodes of this session, stood for. */
  | { readonly type: 'forced'; readonly paths: readonly string[]; readonly session: bigint | undefined }
  | { readonly type: 'stalled'; readonly client: number }
  | { readonly type: 'awake'; readonly client: number }
  | { readonly type: 'killed'; readonly client: number }
  /** Something unexpected: a call that failed for no reason there is, a read that went back in time. */
  | { readonly type: 'unexpected'; readonly what: string }

/** - `error`: a `KeeperError` that says the client is closed or lost for good. */
export type Refusal = 'timeout' | 'aborted' | 'busy' | 'error'

export type Recorded = (Happening | (CallHappening & Place)) & { readonly at: number }
