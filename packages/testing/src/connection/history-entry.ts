// What a history has an entry for.
import type { ClientMessage, ServerMessage } from '@zk/wire'
import type { Role } from '../ensemble/index.ts'
import type { Fault } from './fault.ts'

interface Entry {
  /** When, in ms since the ensemble began. */
  readonly at: number
  /** Name of the member. */
  readonly member: string
  /** Number of the connection, from 1. */
  readonly connection: number
  /** Id of the session, 0 before there is one. */
  readonly session: bigint
}

/** A frame from a client. What a member could not read of it has no `request`. */
export interface ClientEntry extends Entry {
  readonly from: 'client'
  readonly message: ClientMessage
  /** The fault that struck the request. */
  readonly fault: Fault['type'] | undefined
}

/** A frame to a client, at the time its member answered: a fault may have held it up. */
export interface ServerEntry extends Entry {
  readonly from: 'server'
  readonly message: ServerMessage
  /** The fault that struck the reply. A lost one never left. */
  readonly fault: Fault['type'] | undefined
}

/** A connection was made or came to its end. */
export interface ConnectionEntry extends Entry {
  readonly from: 'connection'
  readonly what: 'opened' | 'closed'
  /** Why it was closed, and by which end. */
  readonly reason: string
}

/** A member has another role: it leads, looks for a leader, is down … */
export interface MemberEntry {
  readonly from: 'member'
  readonly at: number
  readonly member: string
  readonly role: Role
}

/** A control was used. What follows from it comes behind it. */
export interface ControlEntry {
  readonly from: 'control'
  readonly at: number
  /** Like the call, such as `zk1.kill()`; without data. */
  readonly what: string
}

export type HistoryEntry = ClientEntry | ServerEntry | ConnectionEntry | MemberEntry | ControlEntry
