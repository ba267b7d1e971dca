import type { TestProject } from 'vitest/node'
import { share } from '../../setup.ts'
import { Ensemble } from '../../src/ensemble/index.ts'

/** The shared ensemble, with little memory: half a second of writes fills it. */
export default function setup(project: TestProject): Promise<() => Promise<void>> {
  return share(project, () => Ensemble.start({ environment: { ZK_SERVER_HEAP: '32' } }))
}
