// Many requests under way at once, and their results in order.
import { KeeperError } from '@zk/client'

/** How many may be under way at once, and how many bytes they may have together. */
const MOST = 64
const MOST_BYTES = 4 * 1024 * 1024

/** Calls `start` for the items ahead of the loop, and yields the results in the order of the items. */
export async function* ahead<Item, Result>(
  items: AsyncIterable<Item>,
  start: (item: Item) => Promise<Result>,
  bytesOf: (item: Item) => number,
): AsyncGenerator<Result> {
  const started: { readonly result: Promise<Result>; readonly size: number }[] = []
  let bytes = 0
  try {
    for await (const item of items) {
      const size = bytesOf(item)
      while (started.length === MOST || (started.length > 0 && bytes + size > MOST_BYTES)) {
        const first = started.shift()!
        bytes -= first.size
        yield await first.result
      }
      const result = start(item)
      // The error is thrown when the loop comes to it.
      result.catch(() => {})
      started.push({ result, size })
      bytes += size
    }
    for (let first = started.shift(); first !== undefined; first = started.shift()) yield await first.result
  } finally {
    await Promise.allSettled(started.map(({ result }) => result))
  }
}

/** Calls it again after a lost connection: for a call that may happen twice. */
export async function untilAnswered<Result>(call: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (!KeeperError.is(error, 'ConnectionLoss')) throw error
    }
  }
}
