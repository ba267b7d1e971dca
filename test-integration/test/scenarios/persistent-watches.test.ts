import { addWatch, removalOfPersistentWatches, setWatches2 } from '@zk/conform/internal'
import { describeScenarios } from '../support/describe-scenarios.ts'

describeScenarios(addWatch)
describeScenarios(removalOfPersistentWatches)
describeScenarios(setWatches2)
