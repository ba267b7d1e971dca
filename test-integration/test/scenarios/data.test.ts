import { data } from '@zk/conform/internal'
import { describeScenarios } from '../support/describe-scenarios.ts'

describeScenarios(data)
