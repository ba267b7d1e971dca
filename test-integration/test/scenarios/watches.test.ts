import { watches, checkWatchesAndRemoveWatches } from '@zk/conform'
import { describeScenarios } from '../support/describe-scenarios.ts'

describeScenarios(watches)
describeScenarios(checkWatchesAndRemoveWatches)
