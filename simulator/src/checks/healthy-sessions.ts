import type { LostErrorCode } from '@zk/recipes'
import { WALL_START } from '@zk/testing/internal'
import type { Played } from '../history/played.ts'
import type { Fault, FaultType } from '../scenario/fault.ts'
import { ofNames } from '../scenario/fault-kinds.ts'
import { attemptsOf } from './attempts.ts'
import type { Check, InvariantId } from './check.ts'

/** A server that ends a session by itself uses no xid. The xids of clients begin with 1. */
const BY_SERVER = 0

/** These cost nothing by themselves: they are about servers that a client has no need of, as long as it is connected. */
export const harmless: readonly FaultType[] = [
  'failLookUp',
  'slowLookUp',
  'misdirect',
  'misconfigure',
  'relist',
  'touch',
]

/** The other reasons are the will of the client, or of its program. */
const losses: readonly LostErrorCode[] = ['LeaseLost', 'SessionExpired', 'NodeGone']

/**
 * Whether a committed answer takes T/20 at most: from the client to its server and back, from the server to the leader, and from the leader
 * to the others and back. In slower networks the next round of a lease may come too late. With a follower relay delay above T/3, the limit
 * is T/80 for all holds of that client: the touches that count are older, and less of a lease is left.
 */
function hasFastAnswers(
  { scenario: { network, ensemble, clients, sessionTimeout } }: Pick<Played, 'scenario'>,
  client: number,
): boolean {
  const leased = clients[client]!.workers.flat().filter(
    ({ holdOptions: { heldWhile } = {} }) => (heldWhile ?? 'confirmed') === 'confirmed',
  )
  const relay = Math.max(0, ...leased.map(({ holdOptions }) => holdOptions?.followerRelayDelay ?? 0))
  const later = clients.flatMap(({ handOvers = [] }) => handOvers.map((each) => each.sessionTimeout))
  const limits = ensemble.longestTimeouts?.filter((each) => each > 0) ?? []
  const { cuts, answers = 0 } = network
  // The pieces of a segment arrive one after the other.
  const latency = network.latency * (cuts > 0 ? 2 : 1)
  const T = Math.min(sessionTimeout, ...later, ...limits)
  return 2 * latency + 4 * ensemble.latency + answers <= (relay > T / 3 ? T / 80 : T / 20)
}

/** When the first fault struck that may cost a connection or shorten T. While a session changes hands, look-ups may cost it, too. */
function stormOf({ history, scenario }: Pick<Played, 'history' | 'scenario'>): number {
  const handsOver = scenario.clients.some(({ handOvers }) => handOvers !== undefined)
  const { longestTimeouts = [] } = scenario.ensemble
  // A client that goes to a server with a lower limit gets a shorter T: its lease may be over at once.
  const mayShorten = longestTimeouts.some((each) => each > 0 && each < scenario.sessionTimeout)
  const isHarmless = ({ type }: Fault) =>
    harmless.includes(type) && !(handsOver && ofNames.includes(type)) && !(mayShorten && type === 'relist')
  const struck = history.find((each) => each.type === 'forced' || (each.type === 'struck' && !isHarmless(each.fault)))
  return struck?.at ?? Infinity
}

/** Whether look-ups are slow or fail. Then a client may give up an attempt to connect whose session the servers make afterwards. */
function mayGiveUpAttempts({ history, scenario }: Pick<Played, 'history' | 'scenario'>): boolean {
  const isOfNames = history.some((each) => each.type === 'struck' && ofNames.includes(each.fault.type))
  return isOfNames || scenario.network.lookUp !== undefined
}

/**
 * I18, P11: no session expires, and no hold is lost, before the first fault that may cost a connection or shorten T. Whatever
 * a client does, servers get its pings in time. What it is told of servers makes it leave none that serves. A session that
 * its client closes is left out: `close` ends after T/2, even if calls are in the way of its request.
 */
export function healthySessions(invariant: InvariantId): Check {
  return (played) => {
    const { history, committed } = played
    // In the same ms the fault may be the cause: servers count whole ms.
    const storm = Math.floor(stormOf(played))
    const expired = mayGiveUpAttempts(played)
      ? []
      : committed.filter(({ header, txn }) => txn.type === 'closeSession' && header.cxid === BY_SERVER)
    const closed = new Set(history.map((each) => (each.type === 'closing' ? each.session : undefined)))
    const sessions = expired
      .map(({ header }) => ({ session: `0x${header.sessionId.toString(16)}`, at: header.time - WALL_START }))
      .filter(({ session, at }) => at < storm && !closed.has(session))
      .map(({ session, at }) => ({ invariant, at, what: `${session} expired, and nothing was wrong` }))
    const holds = attemptsOf(played)
      .filter(({ client }) => hasFastAnswers(played, client))
      .filter(({ lost }) => lost !== undefined && lost.at < storm && losses.includes(lost.reason))
      .map(({ id, lost }) => ({ invariant, at: lost!.at, what: `the hold of ${id} was lost, and nothing was wrong` }))
    return [...sessions, ...holds]
  }
}
