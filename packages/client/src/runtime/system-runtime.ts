import { AsyncResource } from 'node:async_hooks'
import { resolve } from './resolver.ts'
import type { Runtime } from './runtime.ts'
import { dial } from './transport.ts'

/** The longest delay of timers in Node, Deno and Bun, in ms. With a longer delay a timer would fire at once. */
const LONGEST_DELAY = 2 ** 31 - 1

/** Runs code outside of the async context of the caller: a timer or socket serves many callers, not only this one. */
const outside = new AsyncResource('@zk')

/** The runtime with the real clocks, random numbers and TCP. It works on Node, Deno and Bun. */
export const systemRuntime: Runtime = {
  now: () => performance.now(),
  wallNow: () => Date.now(),
  setTimer: (delay, callback) => {
    const ms = Math.min(Math.max(Math.ceil(delay), 0), LONGEST_DELAY)
    const timer = outside.runInAsyncScope(() => setTimeout(callback, ms))
    return () => clearTimeout(timer)
  },
  random: () => Math.random(),
  uuid: () => flat(crypto.randomUUID()),
  resolve: (host, handler) => outside.runInAsyncScope(() => resolve(host, handler)),
  dial: (target, handler) => outside.runInAsyncScope(() => dial(target, handler)),
}

/** Node puts a UUID together from 20 strings, which take 700 bytes until a character is read. A waiter keeps its UUID. */
function flat(text: string): string {
  text.charCodeAt(0)
  return text
}
