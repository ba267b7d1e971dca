// One static page: a row a clause, a column a server. A cell opens what was expected, what came, and the frames.
import { inPrograms, type ProgramFinding, type Report, type ReportedClause, summaryLine } from './report.ts'

/** Compares several servers. */
export function htmlReport(reports: readonly Report[]): string {
  const rows = new Map<string, Map<Report, ReportedClause>>()
  for (const report of reports) {
    for (const clause of report.clauses) {
      const row = rows.get(clause.id) ?? new Map<Report, ReportedClause>()
      rows.set(clause.id, row.set(report, clause))
    }
  }
  const head = reports.map(
    (report) => `<th>${escape(report.subject)}<small>${escape(summaryLine(report))}</small></th>`,
  )
  const body = Array.from(rows, ([id, cells]) => {
    const [{ text, level }] = [...cells.values()] as [ReportedClause]
    const columns = reports.map((report) => cell(cells.get(report)))
    return `<tr id="${escape(id)}"><th>${escape(id)}</th><td>${level}: ${escape(text)}</td>${columns.join('')}</tr>`
  })
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>ZooKeeper protocol: ${escape(reports.map(({ subject }) => subject).join(', '))}</title>
<style>${STYLE}</style>
<h1>ZooKeeper protocol, clause by clause</h1>
<table>
<thead><tr><th>clause</th><th>what servers do</th>${head.join('')}</tr></thead>
<tbody>
${body.join('\n')}
</tbody>
</table>
${reports.flatMap((report) => inPrograms(report).map((finding) => programSection(report, finding))).join('\n')}
</html>
`
}

function cell(clause: ReportedClause | undefined): string {
  if (clause === undefined) return '<td class="untried">not in this run</td>'
  const { outcome, expected, actual, why, transcript, frames } = clause
  if (expected === undefined || actual === undefined) {
    return `<td class="${outcome}"${why === undefined ? '' : ` title="${escape(why)}"`}>${outcome}</td>`
  }
  const parts = [
    ...(why === undefined ? [] : [`<p>${escape(why)}</p>`]),
    `<h2>expected</h2><pre>${escape(expected.join('\n'))}</pre>`,
    `<h2>actual</h2><pre>${escape(actual.join('\n'))}</pre>`,
    `<h2>received</h2><pre>${escape((transcript ?? []).join('\n---\n'))}</pre>`,
    `<h2>frames</h2><pre>${(frames ?? []).map(({ connection, direction, hex }) => `${escape(connection)} ${direction} ${hex}`).join('\n')}</pre>`,
  ]
  return `<td class="${outcome}"><details><summary>${outcome}</summary>${parts.join('')}</details></td>`
}

function programSection({ subject }: Report, { kind, expected, actual, program }: ProgramFinding): string {
  const { steps, again, expectedFrames, actualFrames } = program
  const lines = [
    ...steps,
    '',
    `expected  ${expected ?? '(nothing)'}`,
    ...expectedFrames.map(({ direction, hex }) => `          ${direction} ${hex}`),
    `actual    ${actual ?? '(nothing)'}`,
    ...actualFrames.map(({ direction, hex }) => `          ${direction} ${hex}`),
    '',
    again,
  ]
  return `<h2 class="differs">${escape(subject)}: ${escape(kind)}</h2><pre>${escape(lines.join('\n'))}</pre>`
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

const STYLE = `
:root { color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif }
body { margin: 2rem }
table { border-collapse: collapse }
th, td { border: 1px solid #8886; padding: .3rem .6rem; text-align: left; vertical-align: top }
thead th { position: sticky; top: 0; background: Canvas }
small { display: block; font-weight: normal }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; max-width: 60rem }
h2 { font-size: 1em; margin: .6rem 0 0 }
.equal { color: #2a7a2a } .allowed, .lenient, .follows { color: #a06a00 } .differs, .stopped, .unsupported { color: #c02020 }
.untried, .unchecked, .later, .unfinished { color: #888 }
`
