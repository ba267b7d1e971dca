import type { CheckedOptions } from '../options.ts'
import type { Configuration } from './configuration.ts'
import type { Faults } from './faults.ts'
import type { History } from './history.ts'
import type { SaslSettings } from './sasl-server.ts'

/** The client at the other end. */
export interface Remote {
  /** The address as text, such as `127.0.0.1`, for ACLs of the scheme `ip`. */
  readonly address: string
  /** The TCP port. */
  readonly port?: number | undefined
  /** The subject of its certificate, if it has one, for ACLs of the scheme `x509`. */
  readonly certificate?: string | undefined
}

export interface Limits {
  /** The longest frame from a client, in bytes (jute.maxbuffer). */
  readonly juteMaxBuffer: number
  /** How many requests of a connection may be unanswered before no more are read (globalOutstandingLimit). */
  readonly outstanding: number
  /** How many connections one address may have to one member; 0 for any number (maxClientCnxns). */
  readonly clientConnections: number
  /** The four-letter words that are answered (4lw.commands.whitelist). */
  readonly fourLetterWords: ReadonlySet<string>
  /** The digest of the superuser: `super:BASE64`. */
  readonly superDigest: string | undefined
  /** The users that may prove their identity by SASL; undefined if SASL is not set up. */
  readonly sasl: SaslSettings | undefined
}

/** What the connections of an ensemble have in common. */
export interface Host {
  /** The current time, in ms since the ensemble began. */
  readonly now: number
  readonly faults: Faults
  readonly history: History
  readonly limits: Limits
  readonly settings: Omit<Configuration, 'maxClientCnxns' | 'clientPort'> & Pick<CheckedOptions, 'memberOptions'>
  /** The time of the wall clock, in ms since the epoch. */
  wallNow(): number
  /** A number in [0, 1), like Math.random. */
  random(): number
  /** Runs the action after this time. The returned function cancels it. */
  after(ms: number, action: () => void): () => void
  /** The connection has bytes to send, or is to be closed. */
  isDue(connection: { readonly id: number }): void
  /** The number of the next connection, from 1. */
  nextConnectionId(): number
  /** How many members follow the leader. */
  readonly followers: number
}
