// Calls for many nodes. A list of names may have any length, so not all calls are made at once: 100,000 calls would take 600 MB,
// would stop the program for two seconds, and other calls of the client would be refused (`QueueFull`).

/** How many calls may be under way. That keeps a server nearby busy, so more would gain nothing. */
export const WINDOW = 256

/**
 * Makes a call for each item, in order, at most `WINDOW` at a time. Resolves with the results, in the order of the items. Rejects with
 * the first error, and then makes no further calls.
 */
export async function callEach<Item, Result>(
  items: readonly Item[],
  call: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const lane = async () => {
    while (next < items.length) {
      const index = next++
      try {
        results[index] = await call(items[index]!)
      } catch (error) {
        next = items.length
        throw error
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(WINDOW, items.length) }, lane))
  return results
}
