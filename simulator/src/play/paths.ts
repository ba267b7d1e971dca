import type { Call } from '../scenario/calls.ts'
import { type LockName, lockNames } from '../scenario/locks.ts'
import type { Scenario, TaskRecipe } from '../scenario/scenario.ts'

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
/** The node that a call reads. */
export const readBy = ({ id, bytes }: Pick<Call, 'id' | 'bytes'>): string =>
  bytes === undefined ? nodeOf(id) : `${nodeOf(id)}/`.padEnd(bytes, 'x')

const several = lockNames.map(lockPath)
const folders: Readonly<Record<TaskRecipe, readonly string[]>> = {
  Lock: [PATH],
  SharedLock: [PATH],
  LeaderElection: [PATH],
  Semaphore: [LOCKS, LEASES],
  MultiLock: several,
}

/** The parents of contenders' nodes. The first one numbers them. Clients without tasks use the path itself. */
export const foldersOf = ({ recipe }: Pick<Scenario, 'recipe'>): readonly string[] =>
  recipe in folders ? folders[recipe as TaskRecipe] : [PATH]
