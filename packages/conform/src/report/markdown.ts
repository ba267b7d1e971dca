// A table for an issue or a page.
import { isNamed } from './text.ts'
import { inPrograms, type ProgramFinding, type Report, summaryLine } from './report.ts'

export function markdownReport(report: Report): string {
  const rows = report.clauses
    .filter(isNamed)
    .map(({ id, outcome, text, expected = [], actual = [], why }) =>
      row(id, outcome, text, code(expected), why === undefined ? code(actual) : `${code(actual)} ${why}`),
    )
  return [
    `# ${report.subject}`,
    '',
    `${summaryLine(report)} (${report.at.slice(0, 10)})`,
    '',
    ...inPrograms(report).flatMap(programSection),
    ...(rows.length === 0
      ? report.programs === undefined
        ? ['Every clause that was tried is kept.']
        : []
      : [row('clause', 'result', 'what servers do', 'expected', 'actual'), '| --- | --- | --- | --- | --- |', ...rows]),
    '',
  ].join('\n')
}

function programSection({ kind, expected = '(nothing)', actual = '(nothing)', program }: ProgramFinding): string[] {
  const { steps, again } = program
  return [`## ${kind}`, '', '```', `expected  ${expected}`, `actual    ${actual}`, '', ...steps, '', again, '```', '']
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
}

function code(lines: readonly string[]): string {
  return lines.length === 0 ? '(nothing)' : lines.map((line) => `\`${line}\``).join(', ')
}
