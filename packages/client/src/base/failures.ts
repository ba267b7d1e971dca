/**
 * Waits until all promises have settled, and returns the failure of each; undefined stands for success. `Promise.allSettled` is not
 * used: its results have another form if a program has replaced the global `Promise` (Bluebird).
 */
export async function failuresOf(
  promises: readonly Promise<unknown>[],
): Promise<({ readonly error: unknown } | undefined)[]> {
  return await Promise.all(
    promises.map((promise) =>
      promise.then(
        () => undefined,
        (error: unknown) => ({ error }),
      ),
    ),
  )
}
