// The ensemble that the test files of this worker share. It is started when the first of them is loaded.
import { inject } from 'vitest'
import type { SharedEnsemble } from '../../src/ensemble/index.ts'

const ensembles = inject('ensembles')

/** undefined where there is no Docker engine. */
export const shared: SharedEnsemble | undefined = ensembles === undefined ? undefined : await ask(ensembles)

async function ask(ensembles: string): Promise<SharedEnsemble> {
  // Workers that run at the same time have different numbers, and a new worker has that of one that has ended.
  const response = await fetch(`${ensembles}/${process.env['VITEST_POOL_ID']}`)
  if (!response.ok) throw new Error(`The shared ensemble does not start: ${await response.text()}`)
  return (await response.json()) as SharedEnsemble
}
