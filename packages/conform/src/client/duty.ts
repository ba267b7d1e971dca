// A clause for clients: a sentence, its source, and a function that says of a log whether the client has kept it.
import type { Level } from '../clauses/index.ts'
import type { ClientLog } from './client-log.ts'

export interface Duty {
  /** Unique, and never used again: `client/12` always means the same. */
  readonly number: number
  /** @default 'MUST' */
  readonly level?: Level
  /** What clients do: one sentence, or two. In Markdown. */
  readonly text: string
  /** Classes and methods of ZooKeeper that show it, and issues. */
  readonly source: string
  /** When it shows: `a connection is lost`. If it did not happen, there is no verdict. */
  readonly shows: string
  readonly look: (log: ClientLog, witness: Witness) => void
}

/** Hears what a duty has found. */
export class Witness {
  /** How many times the duty was kept. */
  kept = 0
  /** Sentences that say what was wrong, when, and on which connection. */
  readonly broken: string[] = []

  check(isKept: boolean, what: () => string): void {
    if (isKept) this.kept++
    else this.broken.push(what())
  }
}

/** What the log of one situation says of one duty. */
export type DutyVerdict =
  | { readonly outcome: 'kept'; readonly times: number }
  | { readonly outcome: 'broken'; readonly why: readonly string[] }
  | { readonly outcome: 'unseen' }

export function verdictOn(duty: Duty, log: ClientLog): DutyVerdict {
  const witness = new Witness()
  duty.look(log, witness)
  if (witness.broken.length > 0) return { outcome: 'broken', why: witness.broken }
  return witness.kept === 0 ? { outcome: 'unseen' } : { outcome: 'kept', times: witness.kept }
}
