import { describe } from 'vitest'
import { Ensemble } from '../../src/ensemble/index.ts'
import type { EnsembleDescription } from '../../src/ensemble/index.ts'
import { shared } from './shared-ensemble.ts'

/** `describe` for tests with the shared ensemble; skipped without one. */
export function describeEnsemble(name: string, body: (ensemble: Ensemble) => void): void {
  describe.skipIf(shared === undefined)(name, () => body(Ensemble.attach(shared?.description ?? NONE)))
}

const NONE: EnsembleDescription = { id: '', host: '', network: '', tickTime: 0, nodes: [] }
