// What is known to differ, with a reason each: kept in a file beside the server's code.
import { type Report, withoutClause } from './report.ts'

/** Begins the key of what only scenarios show. */
const SCENARIOS = 'scenarios: '

/** `{ "watches/12": "we have no watches of children" }`. */
export type Baseline = Readonly<Record<string, string>>

export interface Unexpected {
  /** Clauses that differ and are not in the baseline. */
  readonly differs: readonly string[]
  /** Clauses in the baseline that were tried and do not differ. */
  readonly keeps: readonly string[]
}

/** Throws an Error that says what is wrong with the file. `ids` are all clauses that exist. */
export function parseBaseline(text: string, ids: ReadonlySet<string>): Baseline {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`it is not JSON: ${(error as Error).message}`, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error('it must be an object: {"watches/12": "the reason"}')
  }
  for (const [id, reason] of Object.entries(value)) {
    if (!ids.has(id) && !id.startsWith(SCENARIOS)) throw new Error(`there is no clause ${id}: see \`conform list\``)
    if (typeof reason !== 'string' || reason.trim() === '') throw new Error(`${id} needs a reason: a text`)
  }
  return value as Baseline
}

/** What does not agree with the baseline. */
export function unexpectedIn(report: Report, baseline: Baseline): Unexpected {
  const failed = failedIn(report)
  const passed = report.clauses
    .filter(({ outcome }) => outcome === 'equal' || outcome === 'allowed')
    .map(({ id }) => id)
  const known = Object.keys(baseline)
  const isGone = (key: string): boolean =>
    key.startsWith(SCENARIOS) ? report.scenarios.tried > 0 && !failed.includes(key) : passed.includes(key)
  return { differs: failed.filter((key) => !Object.hasOwn(baseline, key)), keeps: known.filter(isGone) }
}

/** A baseline with all that differs. Reasons that are known stay. */
export function baselineOf(report: Report, known: Baseline = {}): string {
  const entries = failedIn(report).map((key) => [key, known[key] ?? 'say why'] as const)
  return `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`
}

/** The clauses that have failed, and what only scenarios show. */
export function failedIn(report: Report): readonly string[] {
  return [
    ...report.clauses.filter(({ outcome }) => FAILED.has(outcome)).map(({ id }) => id),
    ...withoutClause(report).map(({ kind }) => SCENARIOS + kind),
  ]
}

/** A SHOULD that is missed is no failure. */
const FAILED: ReadonlySet<string> = new Set(['differs', 'unsupported', 'stopped'])
