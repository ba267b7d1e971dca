// The messages to and from a worker thread. They are cloned between threads.
import type { Counts, SearchResult } from './search.ts'
import type { Scope } from './scope.ts'

export interface ScopeJob {
  readonly scope: Scope
  /** The time limit of the search, in ms. */
  readonly limit: number
}

export type ScopeReport =
  | { readonly type: 'progress'; readonly counts: Counts }
  | { readonly type: 'done'; readonly outcome: ScopeOutcome }

export interface ScopeOutcome extends SearchResult {
  readonly scope: Scope
  /** In ms. */
  readonly elapsed: number
}
