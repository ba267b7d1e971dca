// Before each file and after each test, checks the ensemble of this worker: a test that breaks it fails, and the next one has a new
// one. A worker that died in the middle of a test has left its faults to the next file.
//
// The check is not in the tests' own processes: the process that started the ensemble can replace it, and has loaded all it needs.
import { afterEach, beforeAll, inject } from 'vitest'

/** Undoing a test's faults takes up to one minute, starting a new ensemble another; in ms. */
const PATIENCE = 240_000

const ensembles = inject('ensembles')
if (ensembles !== undefined) {
  beforeAll(async () => {
    const broken = await mended(ensembles)
    if (broken !== undefined)
      console.warn(`Before this file the shared ensemble was broken. It has a new one.\n${broken}`)
  }, PATIENCE)

  afterEach(async () => {
    const broken = await mended(ensembles)
    if (broken === undefined) return
    throw new Error(`After this test the shared ensemble was broken. The next test has a new one.\n${broken}`)
  }, PATIENCE)
}

/** Resolves when the ensemble is whole, with what was wrong with it if it had to be replaced. */
async function mended(ensembles: string): Promise<string | undefined> {
  const response = await fetch(`${ensembles}/${process.env['VITEST_POOL_ID']}`, { method: 'POST' })
  if (!response.ok) throw new Error(`The shared ensemble cannot be replaced: ${await response.text()}`)
  return ((await response.json()) as { readonly broken?: string }).broken
}
