export type { EnsembleDescription, NodeDescription } from './description.ts'
export { reachDocker } from './docker.ts'
export type { DockerReach } from './docker.ts'
export { Ensemble } from './ensemble.ts'
export type { WaitOptions } from './ensemble.ts'
export { EnsembleNode } from './ensemble-node.ts'
export { ask, parseCons, parseMntr, parseSrvr, parseWchs } from './four-letter-word.ts'
export type {
  AskOptions,
  ClientConnection,
  FourLetterWord,
  ServerMode,
  ServerStatus,
  WatchSummary,
} from './four-letter-word.ts'
export type { EnsembleOptions } from './launch.ts'
export { Health } from './health.ts'
export { until } from './until.ts'
export type { UntilOptions } from './until.ts'
