// The events of a history, in true time and in order. The checks read them, and a replay prints them.
import type { LostErrorCode } from '@zk/recipes'
import type { Fault } from '../scenario/fault.ts'
import type { HoldKind } from '../scenario/hold-kind.ts'
import type { Task } from '../scenario/scenario.ts'
import type { CallHappening, Place } from './calls.ts'
import type { StepHappening } from './steps.ts'
import type { GroupHappening } from './group.ts'
import type { MirrorHappening } from './mirror.ts'

/** The kind of an attempt. A writer that goes on as a reader begins a new attempt. */
export type AttemptedTask = Omit<Task, 'how'> & { readonly how: Task['how'] | 'downgrade' }

/** An attempt is one call that acquires. Attempts are numbered from 0 in the whole history. */
export type Happening =
  | { readonly type: 'attempted'; readonly attempt: number; readonly client: number; readonly task: AttemptedTask }
  /** A contender is ahead; reported again after queueing anew. */
  | { readonly type: 'queued'; readonly attempt: number; readonly ahead: readonly string[] }
  | {
      readonly type: 'granted'
      readonly attempt: number
      readonly client: number
      readonly kind: HoldKind
      readonly path: string
      readonly fence: bigint
      /** Which permits of a semaphore. */
      readonly permits?: readonly number[]
      /** The nodes of several locks, and their tokens. */
      readonly nodes?: readonly string[]
      readonly tokens?: readonly bigint[]
    }
  | { readonly type: 'asked'; readonly attempt: number; readonly isHeld: boolean }
  /** The signal of the hold aborted. */
  | { readonly type: 'lost'; readonly attempt: number; readonly reason: LostErrorCode }
  /** The attempt settled without a grant. */
  | { readonly type: 'refused'; readonly attempt: number; readonly why: Refusal; readonly error?: string }
  /**
   * The release settled: with an error when it goes on in the background. When the session is over, the node is gone with it.
   */
  | { readonly type: 'released'; readonly attempt: number; readonly isSessionOver: boolean; readonly error?: string }
  /** A guarded write settled: one that made an entry below `/set`. */
  | { readonly type: 'guarded'; readonly attempt: number; readonly entry: string | undefined; readonly error?: string }
  /** A write arrived at the resource that checks fences. */
  | {
      readonly type: 'fenced'
      readonly attempt: number
      readonly kind: HoldKind
      readonly fence: bigint
      readonly isAccepted: boolean
    }
  | { readonly type: 'done'; readonly attempt: number }
  | { readonly type: 'struck'; readonly fault: Fault }
  | { readonly type: 'healed'; readonly fault: Fault }
  /** An operator deleted these nodes, or ended this session. */
  | { readonly type: 'forced'; readonly paths: readonly string[]; readonly session: bigint | undefined }
  | { readonly type: 'stalled'; readonly client: number }
  | { readonly type: 'awake'; readonly client: number }
  | { readonly type: 'killed'; readonly client: number }
  | StepHappening
  /** Something unexpected: a call that failed without a cause, a read that went back in time. */
  | { readonly type: 'unexpected'; readonly what: string }

/** - `error`: a `KeeperError`: the client is closed or lost for good. */
export type Refusal = 'timeout' | 'aborted' | 'busy' | 'error'

export type Recorded = (Happening | GroupHappening | MirrorHappening | (CallHappening & Place)) & {
  readonly at: number
}
