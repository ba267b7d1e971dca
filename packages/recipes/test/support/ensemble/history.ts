import type { ErrorName, EventType } from '@zk/wire'
import type { Fault, OpName } from './faults.ts'

/** One request as a server saw it. */
export interface Served {
  readonly at: number
  /** `host:port` */
  readonly server: string
  readonly session: bigint
  readonly op: OpName
  readonly path: string
  /** The answer, if it was meant to have one. */
  readonly answer: ErrorName | Fault
}

/** One watch that fired. */
export interface Told {
  readonly at: number
  readonly session: bigint
  readonly type: EventType
  readonly path: string
}

/** Everything that servers were asked, and the events they sent. Pings and handshakes are not requests of anybody. */
export class History {
  readonly served: Served[] = []
  readonly told: Told[] = []

  /** The same from now on. */
  since(): { readonly served: readonly Served[]; readonly told: readonly Told[]; ops(session?: bigint): OpName[] } {
    const { served, told } = this
    const [first, firstTold] = [served.length, told.length]
    return {
      get served() {
        return served.slice(first)
      },
      get told() {
        return told.slice(firstTold)
      },
      ops: (session) =>
        served
          .slice(first)
          .filter((each) => (session ?? each.session) === each.session)
          .map(({ op }) => op),
    }
  }
}
