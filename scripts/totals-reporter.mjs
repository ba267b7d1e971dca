// Counts the tests that vitest ran, and writes the totals into the file ZK_TEST_TOTALS, for scripts/test.mjs. A hook that
// failed, a file that cannot be loaded and an error that no test caught each count as one failure.

import { writeFileSync } from 'node:fs'

export default class TotalsReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const totals = { passed: 0, failed: unhandledErrors.length, skipped: 0 }
    for (const module of modules) {
      totals.failed += module.errors().length
      for (const suite of module.children.allSuites()) totals.failed += suite.errors().length
      for (const test of module.children.allTests()) {
        const { state } = test.result()
        // A test that is still pending at the end of the run has no result.
        totals[state === 'pending' ? 'failed' : state]++
      }
    }
    writeFileSync(process.env.ZK_TEST_TOTALS, JSON.stringify(totals))
  }
}
