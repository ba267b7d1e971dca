/**
 * Something that is watched, value by value. The watch ends when you leave the loop, by `return()`, by `await using`, or by the
 * signal of the call that made it.
 */
export interface WatchIterator<T> extends AsyncIterableIterator<T>, AsyncDisposable {
  /**
   * Whether the last value may be out of date: there is no connection, or only one to a server without a quorum, or what is
   * watched has not been read again since.
   */
  readonly isStale: boolean
  // Before TypeScript 5.6 an AsyncIterableIterator has no type parameter for its return value.
  /** The next value; `done` after the last one. */
  next(): Promise<IteratorResult<T, undefined>>
  /** Ends the watch. A `next` that waits resolves with the end. */
  return(): Promise<IteratorResult<T, undefined>>
}
