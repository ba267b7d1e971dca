// The result of judging a server, as data. Reports are made from it.
import type { Clause, Need } from '../clauses/index.ts'
import type { Frame } from '../play/index.ts'
import type { Grade } from './grade.ts'

/** What came out for one clause. */
export type Verdict =
  /** It was played. */
  | { readonly outcome: Grade; readonly evidence: Evidence }
  /** A clause on which it depends has failed: this one cannot be judged. */
  | { readonly outcome: 'follows'; readonly from: readonly string[]; readonly evidence: Evidence }
  /** The server did not answer any more after the check. */
  | { readonly outcome: 'stopped'; readonly evidence: Evidence }
  /** It needs what was not given. */
  | { readonly outcome: 'untried'; readonly needs: readonly Need[] }
  /** The release to which the server is compared does not have it. */
  | { readonly outcome: 'later'; readonly since: string }
  /** The clause has no check. */
  | { readonly outcome: 'unchecked'; readonly why: string }

/** The grade of a clause that was played to its end, or why it has none. */
export type Outcome = Verdict['outcome']

/** What a check saw, and what that is compared with. */
export interface Evidence {
  /** The lines that the check was told to `see`. */
  readonly seen: readonly string[]
  /** The lines of the release to which the server is compared. */
  readonly expected: readonly string[]
  /** Everything that the connections of the check received. */
  readonly transcript: readonly string[]
  /** The first 500 frames, each with its first 4,096 bytes. */
  readonly frames: readonly Frame[]
  /** Why it came to no end, or which node could not be deleted afterwards; undefined if all went well. */
  readonly unfinished: string | undefined
}

/** A clause, and what came out for it. */
export interface JudgedClause {
  /** Such as `watches/12`. */
  readonly id: string
  /** The clause as its chapter has it. */
  readonly clause: Clause
  /** Compared with the release that the judgement names. */
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
  /** A line of the release; undefined if the server does more than it should. */
  readonly expected: string | undefined
  /** The line of the server; undefined if it is missing. */
  readonly actual: string | undefined
}

/** Everything that was found out about a server. */
export interface Judgement {
  /** The release to which the server is compared: the one it resembles most, or the one that was asked for. */
  readonly as: string
  /** In the order of the chapters. */
  readonly clauses: readonly JudgedClause[]
  /** Empty if the profile `full` was not asked for, or single clauses were. */
  readonly scenarios: readonly JudgedScenario[]
  /** Each difference once, those of clauses first. */
  readonly findings: readonly Finding[]
}

/** What came out for one scenario. */
export interface JudgedScenario {
  /** Its subject and its title: `watches: failed reads leave no watch`. */
  readonly name: string
  /** later: the release does not have it. untried: it needs what was not given. unfinished: it came to no end. */
  readonly outcome: 'equal' | 'differs' | 'later' | 'untried' | 'unfinished'
  /** The kinds of its differences. */
  readonly kinds: readonly string[]
}
