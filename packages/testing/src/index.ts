export type { Ending, FaultMatch, FaultOp } from './connection/fault.ts'
export type { FaultRule } from './connection/fault-rule.ts'
export type {
  DelayOptions,
  DropOptions,
  FailOptions,
  Faults,
  GarbageOptions,
  LossOptions,
  MergeOptions,
  ReplaceSessionOptions,
  SplitOptions,
} from './connection/faults.ts'
export type { History, HistoryFilter, HistoryLimits } from './connection/history.ts'
export type {
  ClientEntry,
  ConnectionEntry,
  ControlEntry,
  HistoryEntry,
  MemberEntry,
  ServerEntry,
} from './connection/history-entry.ts'
export type { CreateNodeOptions, TestNode, TestNodes } from './controls/nodes.ts'
export type { TestConnection } from './controls/test-connection.ts'
export type { TestMember } from './controls/test-member.ts'
export type { MemberLike, TestNetwork } from './controls/test-network.ts'
export type { TestSessions } from './controls/test-sessions.ts'
export type { Role, SessionInfo, SessionLimits } from './ensemble/index.ts'
export type { FourLetterWord } from './connection/words.ts'
export type { ReleaseLine, ServerRelease } from './database/index.ts'
export { EnsembleModel, type Link, type ModelOptions, type Output } from './ensemble-model.ts'
export type { TestTlsOptions } from './listener-options.ts'
export type { EnsembleOptions } from './options.ts'
export type { SaslOptions } from './sasl-option.ts'
export { TestEnsemble, type TestEnsembleOptions } from './test-ensemble.ts'
export { VirtualWorld, type VirtualEnsemble, type VirtualWorldOptions } from './virtual/virtual-world.ts'
export type { RouteMatch, VirtualNetwork } from './virtual/virtual-network.ts'
export type { VirtualNames } from './virtual/resolver.ts'
export type { VirtualProcess, VirtualProcessOptions } from './virtual/virtual-process.ts'
export type { VirtualRuntime } from './virtual/virtual-runtime.ts'
export { TestServer, type TestServerOptions } from './test-server.ts'
export type { LoggedTxn, Txn, TxnHeader } from './server/txn.ts'
// Names for the numbers in messages of the history.
export { errorName, EventType, eventName } from '@zk/wire'
