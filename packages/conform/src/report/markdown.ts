// A table for an issue or a page.
import { isNamed } from './text.ts'
import { type Report, summaryLine } from './report.ts'

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
    ...(rows.length === 0
      ? ['Every clause that was tried is kept.']
      : [row('clause', 'result', 'what servers do', 'expected', 'actual'), '| --- | --- | --- | --- | --- |', ...rows]),
    '',
  ].join('\n')
}

function row(...cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replaceAll('\n', ' ')).join(' | ')} |`
}

function code(lines: readonly string[]): string {
  return lines.length === 0 ? '(nothing)' : lines.map((line) => `\`${line}\``).join(', ')
}
