import { watches, checkWatchesAndRemoveWatches } from '@zk/conform/internal'
import { describeScenarios } from '../support/describe-scenarios.ts'

describeScenarios(watches)
describeScenarios(checkWatchesAndRemoveWatches)
