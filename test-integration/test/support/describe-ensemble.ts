import { describe, inject } from 'vitest'
import { Ensemble } from '../../src/ensemble/index.ts'
import type { EnsembleDescription } from '../../src/ensemble/index.ts'

/** `describe` for tests with this run's ensemble; skipped without one. */
export function describeEnsemble(name: string, body: (ensemble: Ensemble) => void): void {
  const description = inject('ensemble')
  describe.skipIf(description === undefined)(name, () => body(Ensemble.attach(description ?? NONE)))
}

const NONE: EnsembleDescription = { id: '', host: '', network: '', tickTime: 0, nodes: [] }
