// What a history has an entry for.
import type { ClientMessage, ServerMessage } from '@zk/wire'
import type { Role } from '../ensemble/index.ts'
import type { Fault } from './fault.ts'

/** What entries of connections have. */
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
  /** It tells this kind of entry from the others. */
  readonly from: 'client'
  /** What the frame says. */
  readonly message: ClientMessage
  /** The fault that struck the request. */
  readonly fault: Fault['type'] | undefined
}

/** A frame to a client, at the time its member answered: a fault may have held it up. */
export interface ServerEntry extends Entry {
  /** It tells this kind of entry from the others. */
  readonly from: 'server'
  /** What the frame says. */
  readonly message: ServerMessage
  /** The fault that struck the reply. A lost one never left. */
  readonly fault: Fault['type'] | undefined
}

/** A connection was made or came to its end. */
export interface ConnectionEntry extends Entry {
  /** It tells this kind of entry from the others. */
  readonly from: 'connection'
  /** Which of the two. */
  readonly what: 'opened' | 'closed'
  /** Why it was closed, and by which end. */
  readonly reason: string
}

/** A member has another role: it leads, looks for a leader, is down … */
export interface MemberEntry {
  /** It tells this kind of entry from the others. */
  readonly from: 'member'
  /** When, in ms since the ensemble began. */
  readonly at: number
  /** Its name. */
  readonly member: string
  /** What it is from now on. */
  readonly role: Role
}

/** A control was used. What follows from it comes behind it. */
export interface ControlEntry {
  /** It tells this kind of entry from the others. */
  readonly from: 'control'
  /** When, in ms since the ensemble began. */
  readonly at: number
  /** Like the call, such as `zk1.kill()`; without data. */
  readonly what: string
}

/** An entry of the history, of a kind that `from` tells. */
export type HistoryEntry = ClientEntry | ServerEntry | ConnectionEntry | MemberEntry | ControlEntry
