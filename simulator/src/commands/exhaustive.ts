// node dist/commands/exhaustive.js …: the small-scope search, see `usage`.
import { parseArgs } from 'node:util'
import { searchScopes } from '../exhaustive/pool.ts'
import { retrace, retraceNumbers, type Retraced } from '../exhaustive/retrace.ts'
import type { ScopeOutcome } from '../exhaustive/scope-job.ts'
import { scopeNamed, scopes } from '../exhaustive/scopes.ts'

const usage = `
exhaustive [name or part of names …] [--seconds n] [--workers n]
    Runs every history of these scopes, or of all; of each for n seconds at most.
exhaustive replay <name> <0.2.1…>
    Plays one history again and prints its trace: the numbers of its choices, and behind them always the first.

Scopes:
${scopes.map(({ name }) => `    ${name}`).join('\n')}
`

const program = new URL('../exhaustive/scope-worker.js', import.meta.url)

const options = {
  seconds: { type: 'string', default: 'Infinity' },
  workers: { type: 'string' },
  help: { type: 'boolean', default: false },
} as const

const { values, positionals } = parseArgs({ options, allowPositionals: true })
if (values.help) console.log(usage.trim())
else if (positionals[0] === 'replay') await replay(positionals.slice(1))
else await run(positionals)

async function run(parts: readonly string[]): Promise<void> {
  const wanted = parts.length === 0 ? scopes : scopes.filter(({ name }) => parts.some((part) => isMeant(name, part)))
  if (wanted.length === 0) throw new Error(`no scope has ${parts.join(' or ')} in its name:\n${usage}`)
  const outcomes = await searchScopes({
    program,
    scopes: wanted,
    limit: positive('--seconds', values.seconds) * 1_000,
    ...(values.workers !== undefined && { workers: positive('--workers', values.workers) }),
    onProgress: ({ done, histories, events }) => {
      process.stdout.write(`\r${done} of ${wanted.length} scopes, ${histories} histories, ${events} events `)
    },
  })
  console.log(`\n\n${table(outcomes)}`)
  for (const { scope, found } of outcomes) {
    if (found === undefined) continue
    process.exitCode = 1
    const retraced = await retrace(scope, found.choices)
    // A replay does not show an unhandled error, or a history without an end.
    const violations = retraced.violations.length > 0 ? retraced.violations : found.violations
    console.log(`\n${scope.name}\n${printed({ ...retraced, violations })}`)
    console.log(`\nexhaustive replay '${scope.name}' ${retraced.numbers.join('.')}`)
  }
}

/** A whole name selects one scope only. */
function isMeant(name: string, part: string): boolean {
  return scopes.some((scope) => scope.name === part) ? name === part : name.includes(part)
}

async function replay([name, numbers = '']: readonly string[]): Promise<void> {
  if (name === undefined) throw new Error(`which?\n${usage}`)
  const path = numbers === '' ? [] : numbers.split('.').map(Number)
  console.log(printed(await retraceNumbers(scopeNamed(name), path)))
}

function printed({ lines, violations }: Retraced): string {
  const wrong = violations.map(({ invariant, at, what }) => {
    return `${invariant}${at === undefined ? '' : ` at step ${at}`}: ${what}`
  })
  return [...lines, '', ...(wrong.length === 0 ? ['no violations'] : wrong)].join('\n')
}

/** The result as a Markdown table. */
function table(outcomes: readonly ScopeOutcome[]): string {
  const head = ['scope', 'histories', 'cut short', 'longest', 'events', 'seconds', 'found']
  const rows = outcomes.map(({ scope, histories, cut, longest, events, elapsed, found, isWhole }) => [
    scope.name,
    ...[histories, cut, longest, events, Math.ceil(elapsed / 1_000)].map((each) => each.toLocaleString('en')),
    [...new Set(found?.violations.map(({ invariant }) => invariant))].join(', ') || (isWhole ? 'nothing' : 'not whole'),
  ])
  const all = [head, head.map((_, column) => (column === 0 ? '---' : '--:')), ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]!.length)))
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!)
  return all.map((row) => `| ${row.map(pad).join(' | ')} |`).join('\n')
}

function positive(flag: string, value: string): number {
  const number = Number(value)
  if (number > 0) return number
  throw new Error(`${flag}: ${value} is not a number above 0`)
}
