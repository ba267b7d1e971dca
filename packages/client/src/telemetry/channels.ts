// Publishes what happens on the diagnostics channels.
import { type Channel, channel } from 'node:diagnostics_channel'
import { printable } from '@zk/wire'
import { KeeperError } from '../base/errors.ts'
import type { CallOutcome, EventOf, SessionInfo, Subscriber } from '../session/client-event.ts'
import { endTrigger } from '../session/protocol/states.ts'
import type { Request } from '../session/requests/request.ts'
import { CallChannels, type ClientMessages, publish, type RequestMessage } from './diagnostics.ts'
import { FrameTrace } from './frame-trace.ts'

const channels = {
  'zk:anomaly': channel('zk:anomaly'),
  'zk:client': channel('zk:client'),
  'zk:connection': channel('zk:connection'),
  'zk:session': channel('zk:session'),
  'zk:watch': channel('zk:watch'),
  'zk:frame': channel('zk:frame'),
} as const satisfies Record<keyof ClientMessages, Channel>

/** The calls of all clients. */
export const requests = new CallChannels('zk:request')

export class Channels implements Subscriber {
  /** The calls under way whose beginning was published. */
  readonly #traced = new Map<Request, RequestMessage>()
  /** The name of the client. */
  readonly #client: string
  readonly #tracesFrames: boolean
  #frames: { readonly sent: FrameTrace; readonly received: FrameTrace } | undefined

  constructor(client: string, tracesFrames: boolean) {
    this.#client = client
    this.#tracesFrames = tracesFrames
  }

  called(request: Request, session: SessionInfo): void {
    if (!requests.hasSubscribers) return
    const { op, path, paths } = request
    const open = { xid: undefined, duration: undefined, code: undefined, outcomeUnknown: undefined, error: undefined }
    const message: RequestMessage = { op, path, paths, ...this.#place(session), ...open }
    this.#traced.set(request, message)
    requests.begin(message)
  }

  settled(request: Request, session: SessionInfo, { code, failure }: CallOutcome, duration: number): void {
    if (this.#traced.size === 0) return
    const message = this.#traced.get(request)
    if (message === undefined) return
    this.#traced.delete(request)
    const outcomeUnknown = KeeperError.is(failure?.error) && failure.error.outcomeUnknown
    // The reason of a signal may be null.
    const error = failure && (failure.error ?? new Error(`rejected with ${String(failure.error)}`))
    Object.assign(message, this.#place(session), { xid: request.xid, duration, code, outcomeUnknown, error })
    requests.settle(message)
  }

  sent({ bytes, session }: EventOf<'sent'>): void {
    this.#frames?.sent.take(bytes, this.#place(session))
  }

  received({ bytes, session }: EventOf<'received'>): void {
    this.#frames?.received.take(bytes, this.#place(session))
  }

  dialing({ session, server }: EventOf<'dialing'>): void {
    if (this.#tracesFrames) {
      const note = (message: ClientMessages['zk:frame']) => report('zk:frame', () => message)
      this.#frames = { sent: new FrameTrace('sent', note), received: new FrameTrace('received', note) }
    }
    report('zk:connection', () => ({ event: 'dialing', ...this.#place(session), server }))
  }

  unreached({ session, server, error: reason, duration }: EventOf<'unreached'>): void {
    report('zk:connection', () => ({ event: 'failed', ...this.#place(session), server, reason, duration }))
  }

  connected({ session, server, readOnly, before }: EventOf<'connected'>): void {
    const isReconnected = before !== undefined
    report('zk:connection', () => ({ event: 'established', ...this.#place(session), server, readOnly, isReconnected }))
    if (isReconnected) return
    report('zk:session', () => ({ event: 'established', ...this.#place(session), timeout: session.timeout }))
  }

  lost({ session, server, reason, duration }: EventOf<'lost'>): void {
    report('zk:connection', () => ({ event: 'lost', ...this.#place(session), server, reason: reason(), duration }))
  }

  ended({ session, reason }: EventOf<'ended'>): void {
    report('zk:session', () => ({ event: endTrigger[reason], ...this.#place(session), timeout: session.timeout }))
  }

  notified({ session, watcher, outcome }: EventOf<'notified'>): void {
    const { type } = outcome
    if (type === 'SessionEnded' || type === 'Set' || type === 'Refused') return
    report('zk:watch', () => {
      // The event of a persistent watch has a path of its own, which may be below the watched path.
      const path = 'path' in outcome ? outcome.path : watcher.path
      return { type, path, zxid: 'zxid' in outcome ? outcome.zxid : undefined, ...this.#place(session) }
    })
  }

  anomaly({ session, what }: EventOf<'anomaly'>): void {
    report('zk:anomaly', () => ({ what: printable(what), ...this.#place(session) }))
  }

  #place({ id, connection }: SessionInfo): { client: string; sessionId: bigint; server: string | undefined } {
    return { client: this.#client, sessionId: id, server: connection?.server }
  }
}

export function report<Name extends keyof ClientMessages>(name: Name, message: () => ClientMessages[Name]): void {
  if (channels[name].hasSubscribers) publish(channels[name], message())
}
