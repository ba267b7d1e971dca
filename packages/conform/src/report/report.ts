// The result of a run as data: what all reports are made from, and what `--json` prints.
import type { Level, Profile } from '../clauses/index.ts'
import { type Judgement, type JudgedClause, type Outcome } from '../judge/index.ts'
import { toHex } from '../play/index.ts'

/** Grows by one when a field is removed or changes its meaning. */
export const SCHEMA = 1

/** A judgement as JSON can hold it: all reports are made from this. */
export interface Report {
  /** Grows by one when a field is removed or changes its meaning. */
  readonly schema: number
  /** What was judged, such as `127.0.0.1:2181`. */
  readonly subject: string
  /** When, as an ISO date. */
  readonly at: string
  /** The release to which the server was compared. */
  readonly as: string
  /** How many clauses of each profile passed. */
  readonly summary: Readonly<Record<Profile, Count>>
  /** How many scenarios had an end, and how many of these had no difference. */
  readonly scenarios: { readonly equal: number; readonly tried: number }
  /** Only of a run of random programs, which has neither clauses nor scenarios. */
  readonly programs?: ReportedPrograms | undefined
  /** In the order of the chapters. */
  readonly clauses: readonly ReportedClause[]
  /** Each difference once, those of clauses first. */
  readonly findings: readonly ReportedFinding[]
}

/** The clauses of a profile, counted. */
export interface Count {
  /** Equal, or allowed. */
  readonly passed: number
  /** Played, with a verdict or without. */
  readonly tried: number
  /** Not tried, for want of servers, control or permission. */
  readonly untried: number
}

/** One clause, and the evidence if it did not pass. */
export interface ReportedClause {
  /** Such as `watches/12`. */
  readonly id: string
  /** A missed MUST is a difference; a missed SHOULD or MAY is only lenient. */
  readonly level: Level
  /** The line of the summary in which it is counted. */
  readonly profile: Profile
  /** As in the verdict. */
  readonly outcome: Outcome
  /** What servers do, in Markdown. */
  readonly text: string
  /** Only for what was tried and not equal. */
  readonly expected?: readonly string[] | undefined
  /** What was seen. As `expected`, only for what was tried and not equal. */
  readonly actual?: readonly string[] | undefined
  /** Everything that was received, decoded. */
  readonly transcript?: readonly string[] | undefined
  /** The frames of its connections, in order. */
  readonly frames?: readonly ReportedFrame[] | undefined
  /** Why it was not tried, came to no end, or follows. */
  readonly why?: string | undefined
}

/** One thing that the server does differently. */
export interface ReportedFinding {
  /** Such as `getData: data '' → null`. */
  readonly kind: string
  /** As in the finding of the judgement. */
  readonly isAllowed: boolean
  /** The ids of the clauses that it breaks. */
  readonly clauses: readonly string[]
  /** Subject and title of the scenarios that show it. */
  readonly scenarios: readonly string[]
  /** A line of the release; undefined if the server does more than it should. */
  readonly expected: string | undefined
  /** The line of the server; undefined if it is missing. */
  readonly actual: string | undefined
  /** The random program that shows it. */
  readonly program?: ReportedProgram | undefined
}

/** How many random programs were played. */
export interface ReportedPrograms {
  /** Of the first program. The next one has the next number. */
  readonly seed: number
  /** The programs with a verdict. */
  readonly tried: number
  /** How many of these had no difference. */
  readonly equal: number
  /** The requests of all programs with a verdict. */
  readonly requests: number
  /** Programs that came to no end, or whose difference did not show again. */
  readonly withoutVerdict: readonly { readonly seed: number; readonly why: string }[]
  /** The command that plays the program after which the server did not answer any more. */
  readonly stopped?: string | undefined
}

/** The shortest program that shows a difference. */
export interface ReportedProgram {
  /** One line each. */
  readonly steps: readonly string[]
  /** The request and the reply, or the event, that is expected. */
  readonly expectedFrames: readonly ReportedFrame[]
  /** As `expectedFrames`, of the server. */
  readonly actualFrames: readonly ReportedFrame[]
  /** Differences that only show after this one. */
  readonly followedBy: readonly string[]
  /** The command that plays this program alone. */
  readonly again: string
}

/** A frame that a connection of conform sent or received. */
export interface ReportedFrame {
  /** The name of the connection: a, b, c … */
  readonly connection: string
  /** `sent` or `received`, as the connection sees it. */
  readonly direction: string
  /** The first bytes, at most 4,096, in hexadecimal. */
  readonly hex: string
}

/** A finding of random programs. */
export type ProgramFinding = ReportedFinding & { readonly program: ReportedProgram }

/** `subject` is what was judged, such as `127.0.0.1:2181`; `at` is an ISO date. */
export function reportOf(judgement: Judgement, subject: string, at: string): Report {
  const { as, clauses, scenarios, findings } = judgement
  return {
    schema: SCHEMA,
    subject,
    at,
    as,
    summary: {
      core: countOf(clauses, 'core'),
      full: countOf(clauses, 'full'),
      extended: countOf(clauses, 'extended'),
    },
    scenarios: {
      equal: scenarios.filter(({ outcome }) => outcome === 'equal').length,
      tried: scenarios.filter(({ outcome }) => outcome === 'equal' || outcome === 'differs').length,
    },
    clauses: clauses.map(reportedClause),
    findings,
  }
}

/** `as 3.8.7: core 327 of 327, full 181 of 181, extended 35 of 35, scenarios 173 of 173`. */
export function summaryLine({ as, summary, scenarios, programs }: Report): string {
  const parts = Object.entries(summary)
    .filter(([, { tried }]) => tried > 0)
    .map(([profile, { passed, tried }]) => `${profile} ${passed} of ${tried}`)
  if (scenarios.tried > 0) parts.push(`scenarios ${scenarios.equal} of ${scenarios.tried}`)
  if (programs !== undefined) parts.push(`programs ${programs.equal} of ${programs.tried} (from seed ${programs.seed})`)
  return `as ${as}: ${parts.join(', ') || 'nothing was tried'}`
}

/** What only scenarios show: no clause is about it. */
export function withoutClause({ findings }: Report): readonly ReportedFinding[] {
  return findings.filter(({ clauses, isAllowed, program }) => {
    return clauses.length === 0 && !isAllowed && program === undefined
  })
}

/** What random programs show. */
export function inPrograms({ findings }: Report): readonly ProgramFinding[] {
  return findings.filter((finding): finding is ProgramFinding => finding.program !== undefined)
}

/** Outcomes that count neither as passed nor as failed. */
const notTried: ReadonlySet<Outcome> = new Set(['untried', 'unchecked', 'later', 'unfinished'])

function countOf(clauses: readonly JudgedClause[], profile: Profile): Count {
  const outcomes = clauses
    .filter(({ clause }) => (clause.profile ?? 'core') === profile)
    .map(({ verdict }) => verdict.outcome)
  return {
    passed: outcomes.filter((outcome) => outcome === 'equal' || outcome === 'allowed').length,
    tried: outcomes.filter((outcome) => !notTried.has(outcome)).length,
    untried: outcomes.filter((outcome) => outcome === 'untried' || outcome === 'unfinished').length,
  }
}

function reportedClause({ id, clause, verdict }: JudgedClause): ReportedClause {
  const { level = 'MUST', profile = 'core', text } = clause
  const plain = { id, level, profile, outcome: verdict.outcome, text }
  if (!('evidence' in verdict)) return { ...plain, ...whyOf(verdict) }
  if (verdict.outcome === 'equal') return plain
  const { expected, seen, transcript, frames, unfinished } = verdict.evidence
  const why = verdict.outcome === 'follows' ? `follows from ${verdict.from.join(', ')}` : unfinished
  return {
    ...plain,
    expected,
    actual: seen,
    transcript,
    frames: frames.map(({ connection, direction, bytes }) => ({ connection, direction, hex: toHex(bytes) })),
    ...(why !== undefined && { why }),
  }
}

function whyOf(verdict: Exclude<JudgedClause['verdict'], { readonly evidence: unknown }>): { readonly why: string } {
  if (verdict.outcome === 'later') return { why: `came with ${verdict.since}` }
  if (verdict.outcome === 'unchecked') return { why: verdict.why }
  return { why: verdict.needs.map((need) => ENABLED_BY[need]).join('; ') }
}

/** What enables a clause that was not tried. */
const ENABLED_BY = {
  ensemble: 'needs the addresses of a leader and two followers: HOST:PORT,HOST:PORT,HOST:PORT',
  control: 'needs servers that can be stopped: --kill and --start, --pause and --resume',
  superuser: 'needs --super USER:PASSWORD',
  hostile: 'may stop the server: needs --hostile',
  sasl: 'needs a user of SASL: --sasl USER:PASSWORD',
  reconfig: 'changes the configuration of the ensemble: needs --reconfig, and servers with reconfigEnabled=true',
  'read-only': 'needs servers with readonlymode.enabled and localSessionsEnabled: --read-only',
} as const
