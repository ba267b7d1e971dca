export {
  type Chapter,
  chapters,
  type Check,
  type Clause,
  type Level,
  type Need,
  type Profile,
  type ReleaseDifference,
  type Trial,
} from './clauses/index.ts'
export {
  type Evidence,
  type Finding,
  type Grade,
  judge,
  type JudgedClause,
  type JudgedScenario,
  type Judgement,
  type JudgeOptions,
  type Outcome,
  ServerStopped,
  type Verdict,
} from './judge/index.ts'
export type { Session, Stage, Target } from './play/index.ts'
export { RELEASES } from './releases/index.ts'
export { jsonReport, type Report, reportOf, textReport } from './report/index.ts'
export { scenarioGroups } from './scenarios/index.ts'
export { type ServerControl, ServerTarget, type ServerTargetOptions } from './targets/server-target.ts'
export { VirtualTarget, type VirtualTargetOptions } from './targets/virtual-target.ts'
