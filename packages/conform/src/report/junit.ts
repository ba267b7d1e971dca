// JUnit's XML, which CI systems read: a suite a chapter, a test case a clause.
import { isNamed } from './text.ts'
import { inPrograms, type Report, type ReportedClause } from './report.ts'

export function junitReport(report: Report): string {
  const { subject, clauses } = report
  const chapters = new Set(clauses.map(chapterOf))
  const suites = Array.from(chapters, (name) => {
    const all = clauses.filter((clause) => chapterOf(clause) === name)
    const failures = all.filter(isFailed).length
    const skipped = all.filter(isSkipped).length
    return [
      `  <testsuite name="${escape(name)}" tests="${all.length}" failures="${failures}" skipped="${skipped}">`,
      ...all.map(testCase),
      '  </testsuite>',
    ].join('\n')
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="${escape(subject)}">\n${[...suites, ...programSuite(report)].join('\n')}\n</testsuites>\n`
}

/** A test case for each difference, one for each program without a verdict, and one for all that are equal. */
function programSuite(report: Report): readonly string[] {
  const { programs } = report
  if (programs === undefined) return []
  const found = inPrograms(report)
  const { equal, tried, withoutVerdict } = programs
  const head = (name: string): string => `    <testcase classname="programs" name="${escape(name)}"`
  const counts = `tests="${1 + found.length + withoutVerdict.length}" failures="${found.length}" skipped="${withoutVerdict.length}"`
  return [
    `  <testsuite name="programs" ${counts}>`,
    `${head(`${equal} of ${tried} random programs are equal`)}/>`,
    ...found.map(({ kind, expected = '', actual = '', program: { steps, again } }) => {
      const body = [`expected: ${expected}`, `actual: ${actual}`, ...steps, again].join('\n')
      return `${head(kind)}><failure message="differs">${escape(body)}</failure></testcase>`
    }),
    ...withoutVerdict.map(({ seed, why }) => `${head(`seed ${seed}`)}><skipped message="${escape(why)}"/></testcase>`),
    '  </testsuite>',
  ]
}

function chapterOf({ id }: ReportedClause): string {
  return id.slice(0, id.indexOf('/'))
}

function testCase(clause: ReportedClause): string {
  const { id, text, why, outcome, expected = [], actual = [] } = clause
  const head = `    <testcase classname="${escape(chapterOf(clause))}" name="${escape(`${id} ${text}`)}"`
  if (isFailed(clause)) {
    const body = `expected: ${expected.join(' | ')}\nactual: ${actual.join(' | ')}`
    return `${head}><failure message="${escape(outcome)}">${escape(body)}</failure></testcase>`
  }
  if (isSkipped(clause)) return `${head}><skipped message="${escape(why ?? outcome)}"/></testcase>`
  return `${head}/>`
}

function isFailed({ outcome }: ReportedClause): boolean {
  return outcome === 'differs' || outcome === 'stopped' || outcome === 'unsupported'
}

function isSkipped(clause: ReportedClause): boolean {
  return !isFailed(clause) && clause.outcome !== 'equal' && (clause.outcome === 'follows' || !isNamed(clause))
}

/** Control characters cannot be written in XML 1.0 at all. */
function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll(/[^\P{Cc}\t\n\r]/gu, '\uFFFD')
}
