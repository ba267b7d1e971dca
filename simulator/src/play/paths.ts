/** The path for which all clients contend. */
export const PATH = '/locks/simulated'
/** The parents of a semaphore's nodes. */
export const LOCKS = `${PATH}/locks`
export const LEASES = `${PATH}/leases`
/** The parent of the nodes of one of several locks. */
export const lockPath = (name: string): string => `${PATH}/${name}`
/** The parent of the entries of guarded writes. */
export const SET = '/set'
/** The node that clients watch. */
export const CONFIG = '/config'
/** The parent of the nodes of plain calls. */
export const CALLS = '/calls'
export const nodeOf = (call: number): string => `${CALLS}/${call}`
/** The node that a call reads. */
export const readBy = ({ id, bytes }: { readonly id: number; readonly bytes?: number }): string =>
  bytes === undefined ? nodeOf(id) : `${nodeOf(id)}/`.padEnd(bytes, 'x')
