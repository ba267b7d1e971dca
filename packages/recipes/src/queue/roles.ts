// What the recipes differ in: which contenders must be gone before one is granted.
import type { ContenderName, Kind } from './names.ts'

export interface Role {
  readonly kind: Kind
  /** The kinds that queue together. */
  readonly rivals: readonly Kind[]
  /**
   * The contenders that are in the way, of those ahead, oldest first. There are none when the way is free. While there are, at least
   * one of them must go before it can be free: it is looked again when the first one goes. Few are best: each that goes wakes
   * whatever watches it. Of `n` permits the last `n` ahead are in the way.
   */
  blockers(ahead: readonly ContenderName[]): readonly ContenderName[]
  /** Whether no contender can come in ahead later on. Where one can, the list must be read again. */
  readonly aheadOnlyShrinks: boolean
}

const last = (ahead: readonly ContenderName[]) => ahead.slice(-1)

const lock: Kind = { name: 'lock', marker: 'lock-' }
const latch: Kind = { name: 'latch', marker: 'latch-' }
const read: Kind = { name: 'read', marker: '__READ__' }
const write: Kind = { name: 'write', marker: '__WRIT__', successor: read }

export const exclusive: Role = { kind: lock, rivals: [lock], blockers: last, aheadOnlyShrinks: true }

export const candidate: Role = { kind: latch, rivals: [latch], blockers: last, aheadOnlyShrinks: true }

/** A writer that goes on as a reader puts a node in its place: the list of a shared lock does not only shrink. */
export const writer: Role = { kind: write, rivals: [read, write], blockers: last, aheadOnlyShrinks: false }

export const reader: Role = {
  kind: read,
  rivals: [read, write],
  blockers: (ahead) => last(ahead.filter(({ kind }) => kind === write)),
  aheadOnlyShrinks: false,
}
