// One line of JSON for the run, each clause and each finding, and one for the summary. `parseReport` reads them again.
import { type Report, type ReportedClause, type ReportedFinding, SCHEMA } from './report.ts'

/** One JSON object a line: the run, each clause, each finding, the summary. */
export function jsonReport({ clauses, findings, summary, scenarios, programs, ...run }: Report): string {
  const lines = [
    { type: 'run', ...run },
    ...clauses.map((clause) => ({ type: 'clause', ...clause })),
    ...findings.map((finding) => ({ type: 'finding', ...finding })),
    { type: 'summary', ...summary, scenarios, programs },
  ]
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

/** Throws an Error that says what is wrong with the text. */
export function parseReport(text: string): Report {
  const clauses: ReportedClause[] = []
  const findings: ReportedFinding[] = []
  let run: Pick<Report, 'schema' | 'subject' | 'at' | 'as'> | undefined
  let summary: (Report['summary'] & Pick<Report, 'scenarios' | 'programs'>) | undefined
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue
    const { type, ...entry } = parseLine(line, index + 1)
    if (type === 'run') run = entry as unknown as typeof run
    else if (type === 'clause') clauses.push(entry as unknown as ReportedClause)
    else if (type === 'finding') findings.push(entry as unknown as ReportedFinding)
    else if (type === 'summary') summary = entry as unknown as typeof summary
  }
  if (run === undefined || summary === undefined)
    throw new Error('it is not a whole report: `conform --json FILE` writes one')
  if (run.schema !== SCHEMA)
    throw new Error(`its schema is ${run.schema}, not ${SCHEMA}: make it again with this version`)
  const { scenarios, programs, ...counts } = summary
  return { ...run, summary: counts, scenarios, ...(programs && { programs }), clauses, findings }
}

function parseLine(line: string, number: number): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    throw new Error(`line ${number} is not JSON: ${(error as Error).message}`, { cause: error })
  }
  if (typeof value !== 'object' || value === null) throw new Error(`line ${number} is not an object`)
  return value as Record<string, unknown>
}
