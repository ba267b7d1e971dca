import { sessions, expiry } from '@zk/conform'
import { describeScenarios } from '../support/describe-scenarios.ts'

describeScenarios(sessions)
describeScenarios(expiry)
