import { create, sequentialNodes } from '@zk/conform'
import { describeScenarios } from '../support/describe-scenarios.ts'

describeScenarios(create)
describeScenarios(sequentialNodes)
