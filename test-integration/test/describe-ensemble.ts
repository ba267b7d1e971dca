import { describe, inject } from 'vitest'
import { Ensemble } from '../src/ensemble/index.ts'
import type { EnsembleDescription } from '../src/ensemble/index.ts'

/** `describe` for tests of the ensemble this run started; skipped where there is none. */
export function describeEnsemble(name: string, body: (ensemble: Ensemble) => void): void {
  const description = inject('ensemble')
  describe.skipIf(description === undefined)(name, () => body(Ensemble.attach(description ?? NONE)))
}

const NONE: EnsembleDescription = { id: '', host: '', network: '', tickTime: 0, nodes: [] }
