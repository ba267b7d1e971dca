// Counts the tests that vitest ran, and writes the totals into the file ZK_TEST_TOTALS, for scripts/test.mjs, with a line for
// each failure. A hook that failed, a file that cannot be loaded and an error that no test caught each count as one failure.

import { writeFileSync } from 'node:fs'

export default class TotalsReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const totals = { passed: 0, failed: 0, skipped: 0 }
    const failures = unhandledErrors.map((error) => failureOf('outside of every test', error))
    for (const module of modules) {
      const file = module.relativeModuleId
      failures.push(...module.errors().map((error) => failureOf(file, error)))
      for (const suite of module.children.allSuites()) {
        failures.push(...suite.errors().map((error) => failureOf(`${file} > ${suite.fullName}`, error)))
      }
      for (const test of module.children.allTests()) {
        const { state, errors = [] } = test.result()
        // A test that is still pending at the end of the run has no result.
        if (state === 'passed' || state === 'skipped') totals[state]++
        else failures.push(failureOf(`${file} > ${test.fullName}`, errors[0] ?? { message: state }))
      }
    }
    writeFileSync(process.env.ZK_TEST_TOTALS, JSON.stringify({ ...totals, failed: failures.length, failures }))
  }
}

function failureOf(where, { message }) {
  return `${where}: ${message.split('\n')[0]}`
}
