// Ctrl-C, and the other signals that ask zk to end.
import type { ZooKeeper } from '@zk/client'
import { type ClientOptions, connectWith } from './connection.ts'
import { exitCodeOf } from './exit.ts'
import type { Arguments } from './options.ts'

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const

/** A terminal and `npx` both send the first one. A signal that comes later than this ends zk at once. In ms. */
const SAME_SIGNAL = 500

/** Calls `body` with a signal that aborts when zk is asked to end. The exit code is then 128 + n, or `asked`. */
export async function interruptible(body: (signal: AbortSignal) => Promise<number>, asked?: number): Promise<number> {
  const ending = new AbortController()
  let first: { readonly name: NodeJS.Signals; readonly at: number } | undefined
  const handle = (name: NodeJS.Signals): void => {
    if (first !== undefined && performance.now() - first.at > SAME_SIGNAL) process.exit(exitCodeOf(name))
    first ??= { name, at: performance.now() }
    ending.abort()
  }
  for (const name of SIGNALS) process.on(name, handle)
  try {
    const code = await body(ending.signal)
    return first === undefined ? code : (asked ?? exitCodeOf(first.name))
  } catch (error) {
    if (first !== undefined) return asked ?? exitCodeOf(first.name)
    throw error
  } finally {
    for (const name of SIGNALS) process.off(name, handle)
  }
}

/** Calls `body` with a client, which is closed however it ends, also after Ctrl-C. */
export function withClientUntilSignal(
  args: Arguments,
  body: (zk: ZooKeeper, signal: AbortSignal) => Promise<number>,
  options?: ClientOptions,
): Promise<number> {
  return interruptible(async (signal) => {
    const zk = await connectWith(args, process.env, signal, options)
    try {
      return await body(zk, signal)
    } finally {
      await zk.close()
    }
  })
}
