import { setTimeout as sleep } from 'node:timers/promises'

export interface UntilOptions {
  /** The time limit, in ms. @default 30_000 */
  readonly timeout?: number
  /** Pause between two attempts, in ms. @default 100 */
  readonly interval?: number
  /** Called once, when the time is over: describes the present state for the error message. */
  readonly instead?: () => string | Promise<string>
}

/** Repeats the attempt until it gives a value; `undefined` and `false` mean "not yet". Rejects when the time is over. */
export async function until<T>(
  what: string,
  attempt: () => Promise<T | undefined | false>,
  { timeout = 30_000, interval = 100, instead }: UntilOptions = {},
): Promise<T> {
  const deadline = performance.now() + timeout
  for (;;) {
    const value = await attempt()
    if (value !== undefined && value !== false) return value
    if (performance.now() >= deadline) break
    await sleep(interval)
  }
  const detail = instead === undefined ? '' : `\n${await instead()}`
  throw new Error(`Not within ${timeout} ms: ${what}${detail}`)
}
