// Tells scripts/test.mjs, which is our parent, how far vitest is, and prints failures as they happen. A hook that failed, a
// file that cannot be loaded and an error that no test caught each count as one failure.

import { stripVTControlCharacters } from 'node:util'

const tell = (message) => process.send?.(message)

export default class ProgressReporter {
  #vitest

  onInit(vitest) {
    this.#vitest = vitest
  }

  onTestRunStart(specifications) {
    tell({ event: 'files', count: specifications.length })
  }

  onTestModuleQueued({ relativeModuleId: file }) {
    tell({ event: 'begun', file })
  }

  onTestModuleEnd(module) {
    const { passed, failed, skipped, errors } = outcomeOf(module)
    for (const { task, project, where, error } of errors) {
      process.stderr.write(`\n✗ ${where}\n`)
      this.#vitest.logger.printError(error, { task, project })
    }
    const failures = errors.map(({ where, error }) => lineOf(where, error))
    tell({ event: 'ended', file: module.relativeModuleId, passed, failed, skipped, failures })
  }

  /** What a test has printed, with the name of its file. */
  onUserConsoleLog({ content, taskId }) {
    const file = this.#vitest.state.idMap.get(taskId)?.file
    process.stdout.write(`\n${file?.name ?? 'outside of every test'}:\n${content}\n`)
  }

  onTestRunEnd(modules, unhandledErrors) {
    const outcomes = modules.map(outcomeOf)
    const sum = (key) => outcomes.reduce((all, each) => all + each[key], 0)
    if (unhandledErrors.length > 0) this.#vitest.logger.printUnhandledErrors(unhandledErrors)
    const failures = [
      ...unhandledErrors.map((error) => lineOf('outside of every test', error)),
      ...outcomes.flatMap(({ errors }) => errors.map(({ where, error }) => lineOf(where, error))),
    ]
    tell({ event: 'totals', passed: sum('passed'), failed: failures.length, skipped: sum('skipped'), failures })
  }
}

/** `errors` has one for each failure. */
function outcomeOf(module) {
  const file = module.relativeModuleId
  const { project } = module
  const counts = { passed: 0, skipped: 0 }
  const errors = module.errors().map((error) => ({ task: module.task, project, where: file, error }))
  for (const suite of module.children.allSuites()) {
    const where = `${file} > ${suite.fullName}`
    errors.push(...suite.errors().map((error) => ({ task: suite.task, project, where, error })))
  }
  for (const test of module.children.allTests()) {
    const { state, errors: [error = { message: state }] = [] } = test.result()
    // A test that is still pending at the end of the run has no result.
    if (state === 'passed' || state === 'skipped') counts[state]++
    else errors.push({ task: test.task, project, where: `${file} > ${test.fullName}`, error })
  }
  return { ...counts, failed: errors.length, errors }
}

/** The first lines of the message, which often name what went wrong before the test failed, its difference, and its cause. */
function lineOf(where, { message, diff, cause }) {
  const firstOf = (text, count) => text.split('\n').slice(0, count).join(' | ').slice(0, 500)
  // The lines that were expected and found.
  const differences = stripVTControlCharacters(diff ?? '')
    .split('\n')
    .filter((line) => /^[-+] (?! *(Expected|Received)$)/.test(line))
  return [
    `${where}: ${firstOf(message, 3)}`,
    ...(differences.length > 0 ? [firstOf(differences.join('\n'), 6)] : []),
    ...(cause?.message === undefined ? [] : [`caused by: ${firstOf(cause.message, 3)}`]),
  ].join(' | ')
}
