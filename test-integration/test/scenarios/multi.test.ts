import { multi } from '@zk/conform'
import { describeScenarios } from '../support/describe-scenarios.ts'

describeScenarios(multi)
