import { LazyAbortController } from '../../base/aborts.ts'
import type { ConnectionInternals } from '../session-internals.ts'
import type { TouchLog } from '../protocol/touch-log.ts'

/** The driver's side of a public `Connection`: with the touch log, and with `lose`, which aborts its signal. */
export interface OwnConnection extends ConnectionInternals {
  readonly touches: TouchLog
  readonly lose: (reason: () => Error) => void
}

export function newConnection(
  { server, readOnly }: Pick<ConnectionInternals, 'server' | 'readOnly'>,
  touches: TouchLog,
): OwnConnection {
  const lost = new LazyAbortController()
  return {
    server,
    readOnly,
    get signal() {
      return lost.signal
    },
    handshakeAt: touches.handshake,
    touchAnsweredBy: (now) => touches.answeredBy(now),
    touches,
    lose: (reason) => lost.abort(reason),
  }
}
