import type { CheckedOptions } from '../options.ts'
import type { Configuration } from './configuration.ts'
import type { Faults } from './faults.ts'
import type { History } from './history.ts'
import type { SaslSettings } from './sasl-server.ts'

/** The client at the other end. */
export interface Remote {
  /** As text, such as `127.0.0.1`: what ACLs of the scheme `ip` see. */
  readonly address: string
  /** Of TCP. */
  readonly port?: number | undefined
  /** The subject of the certificate it has shown, if it did: what ACLs of the scheme `x509` see. */
  readonly certificate?: string | undefined
}

export interface Limits {
  /** Longest frame from a client, in bytes (jute.maxbuffer). */
  readonly juteMaxBuffer: number
  /** Requests of a connection without an answer before it is read no further (globalOutstandingLimit). */
  readonly outstanding: number
  /** Connections from one address to one member; 0 for any number (maxClientCnxns). */
  readonly clientConnections: number
  /** The four-letter words that are answered (4lw.commands.whitelist). */
  readonly fourLetterWords: ReadonlySet<string>
  /** The id that may do everything, as in `super:BASE64`. */
  readonly superDigest: string | undefined
  /** The users that may prove their identity by SASL; undefined where it is not set up. */
  readonly sasl: SaslSettings | undefined
}

/** What is around the connections of an ensemble. */
export interface Host {
  /** In ms since the ensemble began. */
  readonly now: number
  readonly faults: Faults
  readonly history: History
  readonly limits: Limits
  readonly settings: Omit<Configuration, 'maxClientCnxns' | 'clientPort'> & Pick<CheckedOptions, 'memberOptions'>
  /** By the wall clock, in ms since the epoch. */
  wallNow(): number
  /** In [0, 1), like Math.random. */
  random(): number
  /** The returned function calls it off. */
  after(ms: number, action: () => void): () => void
  /** It has something for its client. */
  isDue(connection: { readonly id: number }): void
  /** For the next connection, from 1. */
  nextConnectionId(): number
  /** How many members follow the leader. */
  readonly followers: number
}
