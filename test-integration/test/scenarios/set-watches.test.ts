import { setWatches } from '@zk/conform'
import { describeScenarios } from '../support/describe-scenarios.ts'

describeScenarios(setWatches)
