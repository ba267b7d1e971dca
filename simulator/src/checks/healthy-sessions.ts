import { WALL_START } from '@zk/testing/internal'
import type { Check, InvariantId } from './check.ts'

/** A server that ends a session by itself uses no xid. The xids of clients begin with 1. */
const BY_SERVER = 0

/**
 * I18, P11: no session expires before the first fault. Whatever a client does, servers get its pings in time. A session that
 * its client closes is left out: `close` ends after T/2, even if calls are in the way of its request.
 */
export function healthySessions(invariant: InvariantId): Check {
  return ({ history, committed }) => {
    // In the same ms the fault may be the cause: servers count whole ms.
    const storm = Math.floor(history.find(({ type }) => type === 'struck')?.at ?? Infinity)
    const expired = committed.filter(({ header, txn }) => txn.type === 'closeSession' && header.cxid === BY_SERVER)
    const closed = new Set(history.map((each) => (each.type === 'closing' ? each.session : undefined)))
    return expired
      .map(({ header }) => ({ session: `0x${header.sessionId.toString(16)}`, at: header.time - WALL_START }))
      .filter(({ session, at }) => at < storm && !closed.has(session))
      .map(({ session, at }) => ({ invariant, at, what: `${session} expired, and nothing was wrong` }))
  }
}
