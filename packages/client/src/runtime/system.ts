import type { Runtime } from './runtime.ts'
import { dial } from './transport.ts'

/** The longest delay that timers of Node, Deno and Bun keep; a longer one would fire at once. */
const LONGEST_DELAY = 2 ** 31 - 1

/** The runtime of the machine: its clocks, its random source, TCP. Works on Node, Deno and Bun. */
export const systemRuntime: Runtime = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  setTimer: (delay, callback) => {
    const timer = setTimeout(callback, Math.min(Math.max(Math.ceil(delay), 0), LONGEST_DELAY))
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
  uuid: () => crypto.randomUUID(),
  dial,
}
