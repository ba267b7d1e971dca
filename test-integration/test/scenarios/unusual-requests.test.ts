import { unusualRequests } from '@zk/conform'
import { describeScenarios } from '../support/describe-scenarios.ts'

describeScenarios(unusualRequests)
