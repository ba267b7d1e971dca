/**
 * How many microtask turns promises get after an event. The deepest chain of client, recipes and workloads takes fewer:
 * `simulator/test/drain.test.ts` measures it, and fails if this number is too small.
 *
 * It is a fixed number of microtasks, because the language defines their order, so a seed gives the same history on every
 * runtime. Runtimes differ in when they run a macrotask, such as a callback of setImmediate.
 */
export const TURNS = 32

export async function drain(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await settled
}

/** One `await` of this promise takes one turn. */
const settled = Promise.resolve()
