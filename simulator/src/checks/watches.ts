import type { Check } from './check.ts'

/**
 * I14: one-shot watches lose nothing, across reconnects and sessions: a client that watches a node, and watches again after
 * every event, has in the end seen the last change. (At most one event per registration: a promise settles once.)
 */
export const watchesLoseNothing: Check = ({ end }) =>
  end.watched
    .filter(({ seen, last }) => seen !== last)
    .map(({ client, seen, last }) => ({
      invariant: 'I14',
      at: end.at,
      what: `client ${client} waits for a change of version ${seen}, and the node has version ${last}`,
    }))
