import { sessions, expiry } from '@zk/conform/internal'
import { describeScenarios } from '../support/describe-scenarios.ts'

describeScenarios(sessions)
describeScenarios(expiry)
