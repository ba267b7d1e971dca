// The difference between recipes: which contenders ahead one waits for.
import type { Ahead } from './contender-list.ts'
import type { ContenderName, Kind } from './names.ts'

export interface Role {
  readonly kind: Kind
  /** The kinds that queue together. */
  readonly rivals: readonly Kind[]
  /**
   * The contenders ahead that this one waits for, oldest first; none when it can be granted. At least one of them must leave
   * before a grant: when the first one leaves, the list is read again. Return as few as possible: each that leaves wakes the
   * contenders that watch it. For `n` permits: none while fewer than `n` are ahead, and otherwise the last `n`. Ask `ahead`
   * for its last ones where these are enough: then the others are not parsed.
   */
  blockers(ahead: Ahead): readonly ContenderName[]
  /** Whether no contender can appear ahead later. If one can, the list is read again after each wake-up. */
  readonly aheadOnlyShrinks: boolean
}

const last = (ahead: Ahead) => ahead.last(1)

const lock: Kind = { name: 'lock', marker: 'lock-' }
const latch: Kind = { name: 'latch', marker: 'latch-' }
const read: Kind = { name: 'read', marker: '__READ__' }
const write: Kind = { name: 'write', marker: '__WRIT__', successor: read }

export const exclusive: Role = { kind: lock, rivals: [lock], blockers: last, aheadOnlyShrinks: true }

export const candidate: Role = { kind: latch, rivals: [latch], blockers: last, aheadOnlyShrinks: true }

/** The reader's node of a writer that was downgraded takes the writer's place, so contenders can still appear ahead. */
export const writer: Role = { kind: write, rivals: [read, write], blockers: last, aheadOnlyShrinks: false }

export const reader: Role = {
  kind: read,
  rivals: [read, write],
  blockers: (ahead) => ahead.last(1, write),
  aheadOnlyShrinks: false,
}
