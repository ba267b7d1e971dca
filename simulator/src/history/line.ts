// A connection as its client saw it: the bytes that were handed to the socket, and those that came in.
import type { ClientMessage, ServerMessage } from '@zk/wire'
import type { Place } from './calls.ts'

export interface Moment extends Place {
  /** True time in ms. */
  readonly at: number
}

export interface Sent extends Moment {
  readonly way: 'up'
  readonly message: ClientMessage
  /** How often bytes had been handed to the socket by then. */
  readonly segment: number
}

export interface Received extends Moment {
  readonly way: 'down'
  /** undefined for bytes that are no message: the server has broken the protocol. */
  readonly message: ServerMessage | undefined
}

/** A name that was looked up. */
export interface LookUp {
  readonly client: number
  readonly term: number
  readonly server: string
  readonly asked: Moment
  /** undefined if no answer came, whether or not the client still waited for it. */
  answered: Moment | undefined
}

export interface Line {
  readonly client: number
  readonly term: number
  /** Whether its client proves its identity by SASL before its first request. */
  readonly usesSasl: boolean
  /** The name of the server. */
  readonly server: string
  readonly dialed: Moment
  readonly frames: (Sent | Received)[]
  ended: (Moment & { readonly by: 'client' | 'peer' }) | undefined
}
