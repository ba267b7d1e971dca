import { AsyncResource } from 'node:async_hooks'
import { resolve } from './resolver.ts'
import type { Runtime } from './runtime.ts'
import { dial } from './transport.ts'

/** The longest delay that timers of Node, Deno and Bun keep; a longer one would fire at once. */
const LONGEST_DELAY = 2 ** 31 - 1

/** Where timers and sockets are made: one serves many callers, so it must not run in the async context of the first of them. */
const outside = new AsyncResource('@zk')

/** The runtime of the machine: its clocks, its random source, TCP. Works on Node, Deno and Bun. */
export const systemRuntime: Runtime = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  setTimer: (delay, callback) => {
    const ms = Math.min(Math.max(Math.ceil(delay), 0), LONGEST_DELAY)
    const timer = outside.runInAsyncScope(() => setTimeout(callback, ms))
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
  uuid: () => crypto.randomUUID(),
  resolve: (host, handler) => outside.runInAsyncScope(() => resolve(host, handler)),
  dial: (target, handler) => outside.runInAsyncScope(() => dial(target, handler)),
}
