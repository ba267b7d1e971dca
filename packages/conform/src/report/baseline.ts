// What is known to differ, with a reason each: kept in a file beside the server's code.
import { inPrograms, type Report, withoutClause } from './report.ts'

/** Begins the key of what only scenarios show, and of what random programs show. */
const [SCENARIOS, PROGRAMS] = ['scenarios: ', 'programs: ']

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
    if (!ids.has(id) && !id.startsWith(SCENARIOS) && !id.startsWith(PROGRAMS))
      throw new Error(`there is no clause ${id}: see \`conform list\``)
    if (typeof reason !== 'string' || reason.trim() === '') throw new Error(`${id} needs a reason: a text`)
  }
  return value as Baseline
}

/** What does not agree with the baseline. What random programs do not show may still be there. */
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

/** The kinds of differences of random programs that are known. */
export function knownKinds(baseline: Baseline): ReadonlySet<string> {
  const keys = Object.keys(baseline).filter((key) => key.startsWith(PROGRAMS))
  return new Set(keys.map((key) => key.slice(PROGRAMS.length)))
}

/** A baseline with all that differs. Reasons that are known stay, and so does what was not tried. */
export function baselineOf(report: Report, known: Baseline = {}): string {
  const gone = new Set(unexpectedIn(report, known).keeps)
  const keys = new Set([...Object.keys(known).filter((key) => !gone.has(key)), ...failedIn(report)])
  const entries = Array.from(keys, (key) => [key, known[key] ?? 'say why'] as const)
  return `${JSON.stringify(Object.fromEntries(entries), undefined, 2)}\n`
}

/** The clauses that have failed, and what only scenarios, or random programs, show. */
export function failedIn(report: Report): readonly string[] {
  return [
    ...report.clauses.filter(({ outcome }) => FAILED.has(outcome)).map(({ id }) => id),
    ...withoutClause(report).map(({ kind }) => SCENARIOS + kind),
    ...inPrograms(report).map(({ kind }) => PROGRAMS + kind),
  ]
}

/** A SHOULD that is missed is no failure. */
const FAILED: ReadonlySet<string> = new Set(['differs', 'unsupported', 'stopped'])
