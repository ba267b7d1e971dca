/**
 * How many microtask turns promises get after an event. The deepest chain of client, recipes and workloads takes fewer:
 * `simulator/test/drain.test.ts` measures it, and fails when this number is too small.
 *
 * The number is fixed, and a macrotask such as setImmediate would not do: runtimes differ in when a macrotask comes.
 * Microtasks belong to the language, so a seed gives the same history on every runtime.
 */
export const TURNS = 32

export async function drain(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await settled
}

/** One `await` of it takes one turn. */
const settled = Promise.resolve()
