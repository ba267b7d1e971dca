/** What all clients contend for. */
export const PATH = '/locks/simulated'
/** Where guarded writes make their entries. */
export const SET = '/set'
/** What clients watch. */
export const CONFIG = '/config'
/** Plain calls are about what is below it. */
export const CALLS = '/calls'
export const nodeOf = (call: number): string => `${CALLS}/${call}`
