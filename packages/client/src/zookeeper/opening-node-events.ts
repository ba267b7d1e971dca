// The events of a watch that the server may not have set yet.
import { atCaller } from '../base/errors.ts'
import { OVER } from '../base/event-queue.ts'
import type { NodeEvents, NodeEventsSource, OpeningNodeEvents } from './node-events.ts'

type Result = Awaited<ReturnType<NodeEvents['next']>>

/** Queues the request before it returns. Never throws: if `make` throws, the returned promise rejects. */
export function openNodeEvents(make: () => NodeEventsSource, signal: AbortSignal | undefined): OpeningNodeEvents {
  let source: NodeEventsSource | undefined
  const open = async (): Promise<NodeEvents> => {
    try {
      source = make()
      await source.open()
      return source
    } catch (error) {
      throw atCaller(error, signal)
    }
  }
  return withEvents(open(), source)
}

/** `source` is undefined if the arguments are wrong. */
function withEvents(opening: Promise<NodeEvents>, source: NodeEvents | undefined): OpeningNodeEvents {
  let state: 'opening' | 'open' | 'failed' = 'opening'
  opening.then(
    () => (state = 'open'),
    // The error is not lost: the first `next()` and an `await` of the watch reject with it.
    () => {},
  )
  const isFailed = () => state === 'failed'
  const events: OpeningNodeEvents = Object.assign(opening, {
    async next(): Promise<Result> {
      if (isFailed()) return OVER
      try {
        if (state === 'opening') await opening
      } catch (error) {
        // Another `next()` may have rejected with the error before.
        if (isFailed()) return OVER
        state = 'failed'
        throw error
      }
      return await source!.next()
    },

    async return(): Promise<Result> {
      return (await source?.return()) ?? OVER
    },

    async [Symbol.asyncDispose](): Promise<void> {
      await source?.return()
    },

    [Symbol.asyncIterator]: () => events,
  })
  return events
}
