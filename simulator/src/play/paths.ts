import { type LockName, lockNames } from '../scenario/locks.ts'
import type { Scenario } from '../scenario/scenario.ts'

/** The path for which all clients contend. */
export const PATH = '/locks/simulated'
/** The parents of a semaphore's nodes. */
export const LOCKS = `${PATH}/locks`
export const LEASES = `${PATH}/leases`
/** The parent of the nodes of one of several locks. */
export const lockPath = (name: LockName): string => `${PATH}/${name}`
/** The parent of the entries of guarded writes. */
export const SET = '/set'
/** The node that clients watch. */
export const CONFIG = '/config'
/** The parent of the nodes of plain calls. */
export const CALLS = '/calls'
export const nodeOf = (call: number): string => `${CALLS}/${call}`

/** The parents of contenders' nodes. The first one numbers them. */
export function foldersOf({ recipe }: Pick<Scenario, 'recipe'>): readonly string[] {
  if (recipe === 'Semaphore') return [LOCKS, LEASES]
  return recipe === 'MultiLock' || recipe === 'NestedLocks' ? lockNames.map(lockPath) : [PATH]
}
