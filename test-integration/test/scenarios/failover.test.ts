import { failover } from '@zk/conform/internal'
import { describeScenarios } from '../support/describe-scenarios.ts'

describeScenarios(failover)
