import type { Check } from './check.ts'

/**
 * I14: one-shot watches lose nothing, across reconnections and sessions. A client that watches a node, and watches again
 * after every event, has seen the last change in the end. (There is one event per watch at most: a promise settles once.)
 */
export const watchesLoseNothing: Check = ({ end }) =>
  end.watched
    .filter(({ seen, last }) => seen !== last)
    .map(({ client, seen, last }) => ({
      invariant: 'I14',
      at: end.at,
      what: `client ${client} waits for a change of version ${seen}, and the node has version ${last}`,
    }))
