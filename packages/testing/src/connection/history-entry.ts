// The entries of a history.
import type { ClientMessage, ServerMessage } from '@zk/wire'
import type { Role } from '../ensemble/index.ts'
import type { Fault } from './fault.ts'

/** The fields that all entries of connections have. */
interface Entry {
  /** The time, in ms since the ensemble began. */
  readonly at: number
  /** The name of the member. */
  readonly member: string
  /** The number of the connection, from 1. */
  readonly connection: number
  /** The id of the session, 0 before there is one. */
  readonly session: bigint
}

/** A frame of a client. If the member could not read the body, `message.request` is undefined. */
export interface ClientEntry extends Entry {
  /** The kind of the entry. */
  readonly from: 'client'
  /** The decoded frame. */
  readonly message: ClientMessage
  /** The fault that struck the request. */
  readonly fault: Fault['type'] | undefined
}

/** A frame to a client, at the time when its member answered. A fault may have delayed it. */
export interface ServerEntry extends Entry {
  /** The kind of the entry. */
  readonly from: 'server'
  /** The decoded frame. */
  readonly message: ServerMessage
  /** The fault that struck the reply. A lost reply was never sent. */
  readonly fault: Fault['type'] | undefined
}

/** A connection was opened or closed. */
export interface ConnectionEntry extends Entry {
  /** The kind of the entry. */
  readonly from: 'connection'
  /** Which of the two happened. */
  readonly what: 'opened' | 'closed'
  /** Why it was closed, and which end closed it. */
  readonly reason: string
}

/** A member has a new role: it leads, looks for a leader, is down … */
export interface MemberEntry {
  /** The kind of the entry. */
  readonly from: 'member'
  /** The time, in ms since the ensemble began. */
  readonly at: number
  /** The name of the member. */
  readonly member: string
  /** Its role from now on. */
  readonly role: Role
}

/** A control was used. Its effects are later entries. */
export interface ControlEntry {
  /** The kind of the entry. */
  readonly from: 'control'
  /** The time, in ms since the ensemble began. */
  readonly at: number
  /** The call as text, such as `zk1.kill()`, without data. */
  readonly what: string
}

/** An entry of the history. `from` is its kind. */
export type HistoryEntry = ClientEntry | ServerEntry | ConnectionEntry | MemberEntry | ControlEntry
