// For people: on a terminal with colours, elsewhere without.
import {
  inPrograms,
  type ProgramFinding,
  type ReportedFrame,
  type Report,
  type ReportedClause,
  summaryLine,
  withoutClause,
} from './report.ts'

/** How a text is shown. */
export interface TextOptions {
  /** Whether it has the escape sequences of a terminal. */
  hasColors: boolean
  /** The command that plays a clause alone. @default `conform run ID HOST:PORT` */
  again?: string | undefined
}

/** Everything that is not as expected, and then the line with the result. */
export function textReport(report: Report, { hasColors, again }: TextOptions): string {
  const paint = hasColors ? painted : plain
  const lines: string[] = []
  for (const clause of report.clauses.filter(isNamed)) lines.push(...clauseLines(clause, report, paint, again), '')
  const others = withoutClause(report)
  if (others.length > 0) lines.push('Only scenarios show:', ...others.flatMap(findingLines), '')
  for (const finding of inPrograms(report)) lines.push(...programLines(finding, paint), '')
  for (const { seed, why } of report.programs?.withoutVerdict ?? []) lines.push(`no verdict  seed ${seed}: ${why}`, '')
  lines.push(...untriedLines(report))
  lines.push(paint.bold(summaryLine(report)))
  return `${lines.join('\n')}\n`
}

/** What a person must look at. */
export function isNamed({ outcome }: ReportedClause): boolean {
  return ['allowed', 'lenient', 'differs', 'unsupported', 'stopped', 'follows', 'unfinished'].includes(outcome)
}

const WORDS: Readonly<Record<string, string>> = {
  allowed: 'as another release',
  lenient: 'lenient',
  differs: 'differs',
  unsupported: 'not supported',
  stopped: 'stops the server',
  follows: 'follows',
  unfinished: 'no verdict',
}

function clauseLines(clause: ReportedClause, { findings }: Report, paint: Paint, again: string | undefined): string[] {
  const { id, outcome, text, level, expected = [], actual = [], why } = clause
  const color = outcome === 'differs' || outcome === 'stopped' ? paint.red : paint.yellow
  const lines = [`${color(WORDS[outcome] ?? outcome)}  ${paint.bold(id)}  ${level}: ${text}`]
  if (why !== undefined) lines.push(`    ${why}`)
  if (outcome === 'follows') return lines
  lines.push(...lined('expected', expected), ...lined('actual', actual))
  const scenarios = new Set(findings.filter(({ clauses }) => clauses.includes(id)).flatMap((each) => each.scenarios))
  if (scenarios.size > 0)
    lines.push(`    shows in ${scenarios.size} ${scenarios.size === 1 ? 'scenario' : 'scenarios'}, too`)
  lines.push(`    play it alone: ${again ?? `conform run ${id} HOST:PORT`}`)
  return lines
}

function lined(name: string, texts: readonly string[]): string[] {
  const shown = texts.length === 0 ? ['(nothing)'] : texts
  return shown.map((text, index) => `    ${(index === 0 ? name : '').padEnd(10)}${text}`)
}

function findingLines({ kind, scenarios, expected, actual }: Report['findings'][number]): string[] {
  const [first = '', ...more] = scenarios
  return [
    `  ${kind}`,
    `    in “${first}”${more.length === 0 ? '' : ` and ${more.length} more`}`,
    ...lined('expected', expected === undefined ? [] : [expected]),
    ...lined('actual', actual === undefined ? [] : [actual]),
  ]
}

function programLines({ kind, expected, actual, program }: ProgramFinding, paint: Paint): string[] {
  const { steps, expectedFrames, actualFrames, followedBy, again } = program
  return [
    `${paint.red('differs')}  ${paint.bold(kind)}`,
    ...lined('expected', expected === undefined ? [] : [expected]),
    // Both were sent the same, in other nodes.
    ...expectedFrames.filter(({ direction }) => actual === undefined || direction === 'received').map(frameLine),
    ...lined('actual', actual === undefined ? [] : [actual]),
    ...actualFrames.map(frameLine),
    ...lined('program', steps),
    ...followedBy.map((other) => `    only after it: ${other}`),
    `    play it alone: ${again}`,
  ]
}

function frameLine({ direction, hex }: ReportedFrame): string {
  return `              ${direction} ${hex}`
}

/** One line for each reason. */
function untriedLines({ clauses }: Report): string[] {
  const counts = new Map<string, number>()
  for (const { outcome, why } of clauses) {
    if (outcome === 'untried' && why !== undefined) counts.set(why, (counts.get(why) ?? 0) + 1)
  }
  const lines = Array.from(
    counts,
    ([why, count]) => `not tried: ${count} ${count === 1 ? 'clause' : 'clauses'} (${why})`,
  )
  return lines.length === 0 ? [] : [...lines, '']
}

interface Paint {
  readonly bold: (text: string) => string
  readonly red: (text: string) => string
  readonly yellow: (text: string) => string
}

const plain: Paint = { bold: (text) => text, red: (text) => text, yellow: (text) => text }
const painted: Paint = {
  bold: (text) => `\x1b[1m${text}\x1b[22m`,
  red: (text) => `\x1b[31m${text}\x1b[39m`,
  yellow: (text) => `\x1b[33m${text}\x1b[39m`,
}
