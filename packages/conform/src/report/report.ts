// The result of a run as data: what all reports are made from, and what `--json` prints.
import type { Level, Profile } from '../clauses/index.ts'
import { type Judgement, type JudgedClause, type Outcome } from '../judge/index.ts'
import { toHex } from '../play/index.ts'

/** Grows by one when a field is removed or changes its meaning. */
export const SCHEMA = 1

export interface Report {
  readonly schema: number
  /** What was judged, such as `127.0.0.1:2181`. */
  readonly subject: string
  /** When, as an ISO date. */
  readonly at: string
  readonly as: string
  readonly summary: Readonly<Record<Profile, Count>>
  readonly scenarios: { readonly equal: number; readonly tried: number }
  readonly clauses: readonly ReportedClause[]
  readonly findings: readonly ReportedFinding[]
}

export interface Count {
  /** Equal, or allowed. */
  readonly passed: number
  readonly tried: number
  /** Not tried, for want of servers, control or permission. */
  readonly untried: number
}

export interface ReportedClause {
  readonly id: string
  readonly level: Level
  readonly profile: Profile
  readonly outcome: Outcome
  readonly text: string
  /** Only for what was tried and not equal. */
  readonly expected?: readonly string[]
  readonly actual?: readonly string[]
  /** Everything that was received, decoded. */
  readonly transcript?: readonly string[]
  readonly frames?: readonly { readonly connection: string; readonly direction: string; readonly hex: string }[]
  /** Why it was not tried, came to no end, or follows. */
  readonly why?: string
}

export interface ReportedFinding {
  readonly kind: string
  readonly isAllowed: boolean
  readonly clauses: readonly string[]
  readonly scenarios: readonly string[]
  readonly expected: string | undefined
  readonly actual: string | undefined
}

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

/** `as 3.8.7: core 118 of 118, full 53 of 60, extended 20 of 31, scenarios 180 of 182`. */
export function summaryLine({ as, summary, scenarios }: Report): string {
  const parts = Object.entries(summary)
    .filter(([, { tried }]) => tried > 0)
    .map(([profile, { passed, tried }]) => `${profile} ${passed} of ${tried}`)
  if (scenarios.tried > 0) parts.push(`scenarios ${scenarios.equal} of ${scenarios.tried}`)
  return `as ${as}: ${parts.join(', ') || 'nothing was tried'}`
}

/** What only scenarios show: no clause is about it. */
export function withoutClause({ findings }: Report): readonly ReportedFinding[] {
  return findings.filter(({ clauses, isAllowed }) => clauses.length === 0 && !isAllowed)
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
