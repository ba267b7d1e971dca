import { channel } from 'node:diagnostics_channel'

/** Something the protocol does not foresee, survived: `{ what, server, sessionId }`. Free without a subscriber. */
const oddities = channel('zk:oddity')

export function reportOddity(what: string, server: string | undefined, sessionId: bigint): void {
  if (oddities.hasSubscribers) oddities.publish({ what, server, sessionId })
}
