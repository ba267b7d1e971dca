import { hostileFrames } from '@zk/conform'
import { describeScenarios } from '../support/describe-scenarios.ts'

describeScenarios(hostileFrames)
