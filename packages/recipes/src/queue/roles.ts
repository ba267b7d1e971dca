// What the recipes differ in: which contenders must be gone before one is granted.
import type { ContenderName, Kind } from './names.ts'

export interface Role {
  readonly kind: Kind
  /** The kinds that queue together. */
  readonly rivals: readonly Kind[]
  /** Of those ahead, oldest first: the one to wait for, or undefined when the way is free. */
  blocker(ahead: readonly ContenderName[]): ContenderName | undefined
  /**
   * Whether no contender can come in ahead later on. Curator's downgrade puts a reader in its writer's place,
   * so a shared lock's list must be read again.
   */
  readonly aheadOnlyShrinks: boolean
}

const last = (ahead: readonly ContenderName[]) => ahead.at(-1)

export const exclusive: Role = { kind: 'lock', rivals: ['lock'], blocker: last, aheadOnlyShrinks: true }

export const candidate: Role = { kind: 'latch', rivals: ['latch'], blocker: last, aheadOnlyShrinks: true }

export const writer: Role = { kind: 'write', rivals: ['read', 'write'], blocker: last, aheadOnlyShrinks: false }

export const reader: Role = {
  kind: 'read',
  rivals: ['read', 'write'],
  blocker: (ahead) => ahead.findLast(({ kind }) => kind === 'write'),
  aheadOnlyShrinks: false,
}
