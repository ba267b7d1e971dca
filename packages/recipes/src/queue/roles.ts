// Roles: for which contenders ahead a contender waits. This is the difference between recipes.
import type { Ahead } from './contender-list.ts'
import type { ContenderName, Kind } from './names.ts'

export interface Role {
  readonly kind: Kind
  /** The kinds that queue together. */
  readonly kinds: readonly Kind[]
  /**
   * The blockers: the contenders ahead that this one waits for, oldest first. If there are none, it gets the grant. When one of them
   * leaves, the list is read again. Return as few as possible: each blocker that leaves wakes the contenders that watch it. For
   * `n` permits there are no blockers while fewer than `n` contenders are ahead; otherwise the last `n` of them are blockers. If
   * the last ones are enough, use `ahead.last`: then the names of the others are not parsed.
   */
  blockers(ahead: Ahead): readonly ContenderName[]
  /** Whether no contender can appear ahead later. If one can, the list is read again after each wake-up. */
  readonly aheadOnlyShrinks: boolean
  /**
   * Whether the contender is next, without a list, if the blocker that has left was of the same session and had no blocker
   * itself. Only for a role whose contenders ahead can only leave. Not for a role that then reads what all contenders ahead have
   * left behind: their events do not show that the next server has it (`spec/semaphore`). @default false
   */
  readonly trustsOwnSession?: boolean
}

const last = (ahead: Ahead) => ahead.last(1)

const lock: Kind = { name: 'lock', marker: 'lock-' }
const latch: Kind = { name: 'latch', marker: 'latch-' }
const read: Kind = { name: 'read', marker: '__READ__', granted: 'all' }
const write: Kind = { name: 'write', marker: '__WRIT__', successor: read }

export const exclusive: Role = {
  kind: lock,
  kinds: [lock],
  blockers: last,
  aheadOnlyShrinks: true,
  trustsOwnSession: true,
}

export const candidate: Role = { ...exclusive, kind: latch, kinds: [latch] }

/** Contenders can appear ahead later: after a downgrade the reader's node takes the place of a writer. */
export const writer: Role = { kind: write, kinds: [read, write], blockers: last, aheadOnlyShrinks: false }

export const reader: Role = { ...writer, kind: read, blockers: (ahead) => ahead.last(1, write) }
