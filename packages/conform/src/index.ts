export {
  chapters,
  type Chapter,
  type Check,
  type Clause,
  expectedOf,
  idOf,
  type Level,
  type Need,
  type Profile,
  type ReleaseDifference,
  Trial,
} from './clauses/index.ts'
export * from './judge/index.ts'
export * from './play/index.ts'
export * from './releases/index.ts'
export * from './scenarios/index.ts'
export { type Probe, probe } from './targets/probe.ts'
export { type ServerControl, ServerTarget, type ServerTargetOptions } from './targets/server-target.ts'
export { VirtualTarget, type VirtualTargetOptions } from './targets/virtual-target.ts'
export * from './report/index.ts'
