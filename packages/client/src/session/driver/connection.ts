import { LateAbort } from '../../aborts.ts'
import type { Connection } from '../../session.ts'
import type { Timestamp } from '../../timestamp.ts'
import type { TouchLog } from '../protocol/touch-log.ts'

/** The driver's side of a public `Connection`: with the touch log, and with `lose`, which aborts its signal. */
export class OwnConnection implements Connection {
  readonly server: string
  readonly readOnly: boolean
  readonly touches: TouchLog
  readonly #lost = new LateAbort()

  constructor({ server, readOnly }: Pick<Connection, 'server' | 'readOnly'>, touches: TouchLog) {
    this.server = server
    this.readOnly = readOnly
    this.touches = touches
  }

  get signal(): AbortSignal {
    return this.#lost.signal
  }

  get handshakeAt(): Timestamp {
    return this.touches.handshake
  }

  touchAnsweredBy(now: number): Timestamp {
    return this.touches.answeredBy(now)
  }

  lose(reason: () => Error): void {
    this.#lost.abort(reason)
  }
}
