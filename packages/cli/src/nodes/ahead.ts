// Many requests under way at once, and their results in order.
import { KeeperError } from '@zk/client'

/** How many may be under way at once, and how many bytes they may have together. */
const MOST = 64
const MOST_BYTES = 4 * 1024 * 1024

interface Started<Result> {
  readonly result: Promise<Result>
  readonly size: number
}

/**
 * Calls `start` for the items ahead of the loop, and yields the results in the order of the items, each as soon as it is available. If the
 * items end with an error, it is thrown after the last result.
 */
export async function* ahead<Item, Result>(
  items: AsyncIterable<Item>,
  start: (item: Item) => Promise<Result>,
  bytesOf: (item: Item) => number,
): AsyncGenerator<Result> {
  const iterator = items[Symbol.asyncIterator]()
  const started: Started<Result>[] = []
  let bytes = 0
  let failure: { readonly error: unknown } | undefined
  const next = (): Promise<IteratorResult<Item, undefined>> =>
    iterator.next().catch((error: unknown) => {
      failure = { error }
      return { done: true, value: undefined }
    })
  const takeFirst = (): Promise<Result> => {
    const { result, size } = started.shift()!
    bytes -= size
    return result
  }
  try {
    for (let coming = next(); ;) {
      const settled = started[0]?.result.then(
        () => undefined,
        () => undefined,
      )
      const item = await (settled === undefined ? coming : Promise.race([coming, settled]))
      if (item === undefined) {
        yield await takeFirst()
        continue
      }
      if (item.done === true) break
      const size = bytesOf(item.value)
      while (started.length === MOST || (started.length > 0 && bytes + size > MOST_BYTES)) yield await takeFirst()
      const result = start(item.value)
      // The error is thrown when the loop comes to it.
      result.catch(() => {})
      started.push({ result, size })
      bytes += size
      coming = next()
    }
    while (started.length > 0) yield await takeFirst()
    if (failure !== undefined) throw failure.error
  } finally {
    // Not awaited: the next item may be long in coming.
    iterator.return?.().catch(() => {})
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
