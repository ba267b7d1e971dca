// After each test, checks the ensemble of this worker: a test that breaks it fails, and the next one has a new one.
//
// The check is not in the tests' own processes: the process that started the ensemble can replace it, and has loaded all it needs.
import { afterEach, inject } from 'vitest'

/** Undoing a test's faults takes up to one minute, starting a new ensemble another; in ms. */
const PATIENCE = 240_000

const ensembles = inject('ensembles')
if (ensembles !== undefined) {
  afterEach(async () => {
    const response = await fetch(`${ensembles}/${process.env['VITEST_POOL_ID']}`, { method: 'POST' })
    if (!response.ok) throw new Error(`The shared ensemble cannot be replaced: ${await response.text()}`)
    const { broken } = (await response.json()) as { readonly broken?: string }
    if (broken === undefined) return
    throw new Error(`After this test the shared ensemble was broken. The next test has a new one.\n${broken}`)
  }, PATIENCE)
}
