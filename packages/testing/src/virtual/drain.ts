/**
 * How many microtask turns are given to promises after an event. The deepest chain of client, recipes and workloads that
 * was ever measured takes fewer; see `simulator/test/drain.test.ts`, which measures it again and fails when this is too small.
 *
 * A fixed number, and no macrotask such as setImmediate: when a macrotask comes differs between runtimes, microtasks are
 * the language's, so the same seed gives the same history on all of them.
 */
export const TURNS = 32

export async function drain(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await settled
}

/** To await it takes one turn. */
const settled = Promise.resolve()
