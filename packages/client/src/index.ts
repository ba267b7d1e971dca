export type {
  ClientState,
  ClientStates,
  ConnectedState,
  ConnectingState,
  DisconnectedState,
  EndedState,
  ExpiredState,
} from './telemetry/client-state.ts'
export { connect } from './zookeeper/connect.ts'
export type { ClientMessages, RequestMessage } from './telemetry/diagnostics.ts'
export {
  type ConnectAttempt,
  ConnectError,
  formatSessionId,
  isTransient,
  KeeperError,
  type KeeperErrorCode,
  type KeeperErrorDetails,
} from './base/errors.ts'
export type { ClientAddress, EnsembleConfig, ServerAddresses, ServerConfig } from './operations/ensemble-config.ts'
export type { LogFunction, Logger, LogLevel, LogMethods } from './telemetry/logger.ts'
export type { NodeACL } from './operations/acl.ts'
export type { ACL, Data } from './base/arguments.ts'
export type { Children } from './operations/children.ts'
export {
  CREATOR_ALL_ACL,
  type Created,
  type CreateOptions,
  OPEN_ACL_UNSAFE,
  READ_ACL_UNSAFE,
} from './operations/create.ts'
export type { NodeData } from './operations/data.ts'
export type { VersionOptions } from './operations/delete.ts'
export type { NodeConfig, Reconfiguration } from './operations/config.ts'
export type { MultiResults } from './operations/multi.ts'
export type { ReadResult, ReadResults } from './operations/multi-read.ts'
export { type Op, op, type ReadOp } from './operations/ops.ts'
export type { Gap, NodeEvents, OpeningNodeEvents, PersistentWatchEvent, WatchOptions } from './zookeeper/node-events.ts'
export type { RemovableWatches } from './operations/remove-watches.ts'
export type { ClientInfo } from './operations/who-am-i.ts'
export type { AuthInfo, ConnectOptions, MakeHostProvider } from './zookeeper/options.ts'
export type { RuntimeConnection, ConnectionHandler, DialTarget, LookupHandler, Runtime } from './runtime/runtime.ts'
export { systemRuntime } from './runtime/system-runtime.ts'
export { digestMd5, type DigestMd5Options } from './sasl/digest-md5.ts'
export type { SaslContext, SaslExchange, SaslMechanism } from './sasl/mechanism.ts'
export {
  type DetachedSession,
  formatDetachedSession,
  parseDetachedSession,
  type SessionCredentials,
} from './session/protocol/detached-session.ts'
export type { Flow } from './session/requests/flow.ts'
export type { HostProvider } from './session/servers/static-host-provider.ts'
export type { Connection, Session } from './operations/session.ts'
export type { Stat } from './operations/stat.ts'
export type { ClientStats, Latency } from './telemetry/stats.ts'
export type { ServerCertificate, TlsOptions, TlsSource, TlsVersion } from './runtime/tls.ts'
export type { NodeEvent, SessionEnded, Watched, WatchedEvent, WatchRemoved } from './zookeeper/call-watcher.ts'
export type { CallOptions, EnsureOptions, ParentsOptions } from './operations/call-options.ts'
export { ZooKeeper } from './zookeeper/zookeeper.ts'
export type { Timestamp } from './runtime/timestamp.ts'
export {
  type CreateMode,
  formatACL,
  generateDigest,
  parseACL,
  Perms,
  ProtocolError,
  type ServerAddress,
  validatePath,
} from '@zk/wire'
export { deleteRecursive, type DeleteRecursiveOptions } from './helpers/delete-recursive.ts'
export { walk, type WalkedNode, type WalkOptions } from './helpers/walk.ts'
