export { chapters, type Chapter, type Check, type Clause, expectedOf, idOf, type Level, type Need, type Profile, type ReleaseDifference, Trial } from './clauses/index.ts'
export { type Grade, gradeOf } from './judge/grade.ts'
export { type Observation, observe } from './judge/observe.ts'
export * from './play/index.ts'
export * from './releases/index.ts'
export * from './scenarios/index.ts'
export { type ServerAddress, type ServerControl, ServerTarget, type ServerTargetOptions } from './targets/server-target.ts'
export { VirtualTarget } from './targets/virtual-target.ts'
export { compareTranscripts, type LineDifference } from './judge/compare.ts'
export { isFailure, judge, type JudgeOptions, ServerStopped } from './judge/judge.ts'
export type {
  Evidence,
  Finding,
  JudgedClause,
  JudgedScenario,
  Judgement,
  Outcome,
  Verdict,
} from './judge/verdict.ts'
