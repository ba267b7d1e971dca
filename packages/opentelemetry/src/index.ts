export { ZooKeeperInstrumentation, type ZooKeeperInstrumentationConfig } from './instrumentation.ts'
