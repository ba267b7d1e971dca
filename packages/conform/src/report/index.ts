export {
  type Baseline,
  baselineOf,
  failedIn,
  knownKinds,
  parseBaseline,
  type Unexpected,
  unexpectedIn,
} from './baseline.ts'
export { htmlReport } from './html.ts'
export { chapterPage, indexPage } from './protocol-page.ts'
export { jsonReport, parseReport } from './json-lines.ts'
export { junitReport } from './junit.ts'
export { markdownReport } from './markdown.ts'
export { type Fuzzed, fuzzReportOf } from './programs.ts'
export { type Report, type ReportedClause, type ReportedFinding, reportOf, SCHEMA, summaryLine } from './report.ts'
export { type TextOptions, textReport } from './text.ts'
