import { create, sequentialNodes } from '@zk/conform/internal'
import { describeScenarios } from '../support/describe-scenarios.ts'

describeScenarios(create)
describeScenarios(sequentialNodes)
