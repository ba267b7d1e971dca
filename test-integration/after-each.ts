// Behind each test the ensemble that all share is looked at: a test that breaks it fails, and the next one has a new one.
//
// Not by the tests' own processes: the one that started the ensemble can replace it, and has loaded all that takes.
import { afterEach, inject } from 'vitest'

/** A test's faults are undone in one minute, a new ensemble is there in another, in ms. */
const PATIENCE = 240_000

const healthCheck = inject('healthCheck')
if (healthCheck !== undefined) {
  afterEach(async () => {
    const response = await fetch(healthCheck)
    if (!response.ok) throw new Error(`The shared ensemble cannot be replaced: ${await response.text()}`)
    const { broken } = (await response.json()) as { readonly broken?: string }
    if (broken === undefined) return
    throw new Error(`Behind this test the shared ensemble was broken. The next test has a new one.\n${broken}`)
  }, PATIENCE)
}
