// What happens in a client, for those who watch it: statistics, states, diagnostics channels, the log. No decision of a session
// depends on them.
import type { KeeperErrorCode } from '../base/errors.ts'
import type { Output } from './protocol/output.ts'
import type { EndReason } from './protocol/states.ts'
import type { Request } from './requests/request.ts'

/** What messages show of a session. */
export interface SessionInfo {
  readonly id: bigint
  readonly timeout: number
  readonly connection: { readonly server: string } | undefined
  readonly isOver: boolean
}

type Facts =
  /** a busy server has not executed a request */
  | { readonly type: 'throttled'; readonly request: Request }
  // Bytes.
  | { readonly type: 'sent'; readonly bytes: Uint8Array }
  | { readonly type: 'received'; readonly bytes: Uint8Array }
  // Connections. `at` is the time by the steady clock.
  | { readonly type: 'dialing'; readonly server: string }
  /** an attempt has failed, after `duration` ms. `isReconnecting` if the session was connected before */
  | (Omit<Extract<Output, { type: 'unreached' }>, 'type'> & {
      readonly type: 'unreached'
      readonly isReconnecting: boolean
      readonly duration: number
      readonly at: number
    })
  /** `before` is the session timeout on the previous connection; undefined on the first connection of a session */
  | {
      readonly type: 'connected'
      readonly server: string
      readonly readOnly: boolean
      readonly before: number | undefined
      readonly at: number
    }
  /** a connection has ended, after `duration` ms, and with it the session if that is over. `reason` makes the error */
  | {
      readonly type: 'lost'
      readonly server: string | undefined
      readonly reason: () => Error
      readonly duration: number
      readonly at: number
    }
  // Lists of servers.
  | Extract<Output, { type: 'unproven' }>
  | { readonly type: 'serversChanged' }
  /** servers of the ensemble's configuration are left out */
  | { readonly type: 'serversIgnored'; readonly why: string }
  // The session.
  | {
      readonly type: 'ended'
      readonly reason: EndReason
      readonly byServer: boolean
      /** Why it ended, if there is more to say. */
      readonly error: Error | undefined
      /** ms since a server last sent something in this session; undefined if none has. */
      readonly sinceReceived: number | undefined
      readonly at: number
    }
  /** the next session begins */
  | { readonly type: 'renewing' }
  /** no other session follows */
  | { readonly type: 'over' }
  // The rest.
  | (Pick<Extract<Output, { type: 'notify' }>, 'watcher' | 'outcome'> & { readonly type: 'notified' })
  | { readonly type: 'anomaly'; readonly what: string }
  /** the timer of the session was called `late` ms late. `jump` is by how many ms the wall clock was set, if that endangers leases */
  | {
      readonly type: 'timer'
      readonly late: number
      /** Whether that endangers leases. */
      readonly isStalled: boolean
      readonly jump: number | undefined
      readonly at: number
    }

export type ClientEvent = Facts & { readonly session: SessionInfo }

/** `Other` is an error that is not a `KeeperError`. */
export type CallCode = KeeperErrorCode | 'Ok' | 'Aborted' | 'Other'

/** The event of this type. */
export type EventOf<Type extends ClientEvent['type']> = Extract<ClientEvent, { readonly type: Type }>

/** How a call has ended. */
export interface CallOutcome {
  readonly code: CallCode
  /** Undefined if the call succeeded, or ended with a code that its caller expects. */
  readonly failure: { readonly error: unknown } | undefined
}

/** Has a method for each type of event that it wants. */
export type Subscriber = { readonly [Type in ClientEvent['type']]?: (event: EventOf<Type>) => void } & {
  called?(request: Request, session: SessionInfo): void
  /** `duration` ms after the call. */
  settled?(request: Request, session: SessionInfo, outcome: CallOutcome, duration: number): void
}

/** Passes each event to its subscribers at once, in their order. */
export class ClientEvents {
  readonly #subscribers: readonly Subscriber[]

  constructor(subscribers: readonly Subscriber[]) {
    this.#subscribers = subscribers
  }

  /** A call was made. Each call has this and `settled`: they make no event, and do not look up its name. */
  called(request: Request, session: SessionInfo): void {
    for (const subscriber of this.#subscribers) subscriber.called?.(request, session)
  }

  settled(request: Request, session: SessionInfo, outcome: CallOutcome, duration: number): void {
    for (const subscriber of this.#subscribers) subscriber.settled?.(request, session, outcome, duration)
  }

  /** Like `emit`, without a look-up by name: 10,000 watches may fire at once. */
  notified(event: EventOf<'notified'>): void {
    for (const subscriber of this.#subscribers) subscriber.notified?.(event)
  }

  emit(event: ClientEvent): void {
    for (const subscriber of this.#subscribers) subscriber[event.type]?.(event as never)
  }
}
