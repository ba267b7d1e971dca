// The result of judging a server, as data. Reports are made from it.
import type { Clause, Need } from '../clauses/index.ts'
import type { Frame } from '../play/index.ts'
import type { Grade } from './grade.ts'

/** What came out for one clause. */
export type Verdict =
  | { readonly outcome: Grade; readonly evidence: Evidence }
  /** A clause on which it depends has failed: this one cannot be judged. */
  | { readonly outcome: 'follows'; readonly from: readonly string[]; readonly evidence: Evidence }
  /** The server did not answer any more after the check. */
  | { readonly outcome: 'stopped'; readonly evidence: Evidence }
  /** It needs what was not given. */
  | { readonly outcome: 'untried'; readonly needs: readonly Need[] }
  /** The release to which the server is compared does not have it. */
  | { readonly outcome: 'later'; readonly since: string }
  | { readonly outcome: 'unchecked'; readonly why: string }

export type Outcome = Verdict['outcome']

export interface Evidence {
  readonly seen: readonly string[]
  readonly expected: readonly string[]
  /** Everything that the connections of the check received. */
  readonly transcript: readonly string[]
  readonly frames: readonly Frame[]
  /** Why it came to no end; undefined if it did. */
  readonly unfinished: string | undefined
}

export interface JudgedClause {
  /** Such as `watches/12`. */
  readonly id: string
  readonly clause: Clause
  readonly verdict: Verdict
}

/** One thing that the server does differently, however often it shows. */
export interface Finding {
  /** Such as `getData: data '' → null`. */
  readonly kind: string
  /** Whether a clause shows it, and it is right, too: another release does so. */
  readonly isAllowed: boolean
  /** The clauses that it breaks; none if only scenarios show it. */
  readonly clauses: readonly string[]
  /** The scenarios that show it: subject and title. */
  readonly scenarios: readonly string[]
  readonly expected: string | undefined
  readonly actual: string | undefined
}

export interface Judgement {
  /** The release to which the server is compared: the one it resembles most, or the one that was asked for. */
  readonly as: string
  readonly clauses: readonly JudgedClause[]
  readonly scenarios: readonly JudgedScenario[]
  readonly findings: readonly Finding[]
}

export interface JudgedScenario {
  /** Its subject and its title: `watches: failed reads leave no watch`. */
  readonly name: string
  readonly outcome: 'equal' | 'differs' | 'later' | 'untried' | 'unfinished'
  /** The kinds of its differences. */
  readonly kinds: readonly string[]
}
