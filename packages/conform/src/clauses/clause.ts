// A clause of the protocol: a sentence, its source, and requests that show whether a server keeps it.
import { concerns, type Releases } from '../releases/index.ts'
import type { Trial } from './trial.ts'

/** As in RFC 2119. A server that does not keep a SHOULD or a MAY is lenient, not wrong. */
export type Level = 'MUST' | 'SHOULD' | 'MAY'

/**
 * core: what Curator, kazoo and the Go client need. full: everything else that a server without special settings does.
 * extended: what must be switched on in the settings of a server, such as TTL nodes, reconfig, quotas and SASL.
 */
export type Profile = 'core' | 'full' | 'extended'

/**
 * What playing a clause needs besides one server that answers. ensemble: a leader and two followers. control: servers that
 * can be killed, started, frozen. superuser: its password. hostile: permission to send what may stop a server. sasl: a
 * server that knows SASL, and the name and password of a user. reconfig: servers with `reconfigEnabled`. read-only: servers
 * with readonlymode.enabled and localSessionsEnabled.
 */
export type Need = 'ensemble' | 'control' | 'superuser' | 'hostile' | 'sasl' | 'reconfig' | 'read-only'

/** One statement about what servers do, and how it is checked. */
export interface Clause {
  /** Unique in its chapter, and never used again: `watches/12` always means the same clause. */
  readonly number: number
  /** @default 'MUST' */
  readonly level?: Level | undefined
  /** @default 'core' */
  readonly profile?: Profile | undefined
  /** What servers do: one sentence, or two. In Markdown. */
  readonly text: string
  /** Classes and methods of ZooKeeper, and issues. */
  readonly source: string
  /** The first release with this behaviour or operation, such as `3.6`. @default all releases */
  readonly since?: string | undefined
  /** @default one server that answers */
  readonly needs?: readonly Need[] | undefined
  /** Clauses without which this one cannot be judged, such as `create/1`. If one of them fails, this one is not accused. */
  readonly follows?: readonly string[] | undefined
  /** A check, or why the clause has no check. */
  readonly check: Check | { readonly unchecked: string }
}

/** Sends requests, and compares what `see` was told with what servers do. */
export interface Check {
  /** Sends the requests. If it rejects or hangs, there is no verdict. */
  readonly play: (trial: Trial) => Promise<void>
  /**
   * Whether it mostly waits for a clock of the server. Such checks are played at the same time, so they must not see what
   * others do: the zxids of transactions, or how many sessions there are.
   */
  readonly waits?: boolean | undefined
  /** The lines that `see` is told on the newest release. */
  readonly expect: readonly string[]
  /** Other answers that are right, too. */
  readonly allowed?: readonly (readonly string[])[] | undefined
  /** What other releases do. The first entry that concerns a release applies. */
  readonly differs?: readonly ReleaseDifference[] | undefined
}

/** What some releases do differently from the newest one. `before` and `since` say which. */
export interface ReleaseDifference extends Releases {
  /** A sentence that says what these releases do. */
  readonly what: string
  /** The lines that `see` is told on these releases. */
  readonly expect: readonly string[]
}

/** The clauses about one subject. It is one page of the protocol. */
export interface Chapter {
  /** The first part of the numbers of its clauses, such as `watches`. */
  readonly name: string
  /** The heading of its page. */
  readonly title: string
  /** A paragraph of Markdown. */
  readonly introduction: string
  /** In the order of the page. */
  readonly clauses: readonly Clause[]
}

/** `watches/12`. */
export function idOf(chapter: Chapter, { number }: Clause): string {
  return `${chapter.name}/${number}`
}

/** What servers of this release do. */
export function expectedOf({ expect, differs = [] }: Check, release: string): readonly string[] {
  return differs.find((difference) => concerns(difference, release))?.expect ?? expect
}
