export { connect } from './zookeeper/connect.ts'
export { ZooKeeper } from './zookeeper/zookeeper.ts'
export type { AdvancedOptions, AuthInfo, ConnectOptions } from './zookeeper/options.ts'
export type { CallOptions, EnsureOptions, ParentsOptions, WaitOptions } from './operations/call-options.ts'
export { ConnectError, formatSessionId, isTransient, KeeperError, type KeeperErrorCode } from './base/errors.ts'
export { ZkError } from './base/zk-error.ts'

// State and telemetry.
export type { ClientState } from './telemetry/client-state.ts'
export type { ClientMessages, RequestMessage } from './telemetry/diagnostics.ts'
export type { ClientStats } from './telemetry/stats.ts'
export type { LogFunction, Logger, LogLevel } from './telemetry/logger.ts'

// Calls.
export type { ACL, Data } from './base/arguments.ts'
export {
  CREATOR_ALL_ACL,
  type Created,
  type CreateOptions,
  OPEN_ACL_UNSAFE,
  READ_ACL_UNSAFE,
} from './operations/create.ts'
export type { NodeACL } from './operations/acl.ts'
export type { NodeData } from './operations/data.ts'
export type { Children } from './operations/children.ts'
export type { Stat } from './operations/stat.ts'
export type { VersionOptions } from './operations/delete.ts'
export type { MultiResults } from './operations/multi.ts'
export type { ReadResults } from './operations/multi-read.ts'
export { type Op, op, type ReadOp } from './operations/ops.ts'
export type { EnsembleConfig } from './operations/ensemble-config.ts'
export { deleteRecursive, type DeleteRecursiveOptions } from './helpers/delete-recursive.ts'
export { walk, type WalkedNode, type WalkOptions } from './helpers/walk.ts'

// Watches.
export type { WatchIterator } from './base/watch-iterator.ts'
export type { NodeEvent, Watched, WatchedEvent } from './zookeeper/call-watcher.ts'
export type { Gap, PersistentWatchEvent, WatchOptions } from './zookeeper/node-events.ts'

// Sessions.
export type { Connection, Session } from './operations/session.ts'
export {
  type DetachedSession,
  formatDetachedSession,
  parseDetachedSession,
  type SessionCredentials,
} from './session/protocol/detached-session.ts'

// Security.
export { digestMd5, type DigestMd5Options } from './sasl/digest-md5.ts'
export type { SaslExchange, SaslMechanism } from './sasl/mechanism.ts'
export type { TlsOptions, TlsSource } from './runtime/tls.ts'

// The world outside.
export type { HostProvider } from './session/servers/static-host-provider.ts'
export type { ConnectionHandler, DialTarget, LookupHandler, Runtime, RuntimeConnection } from './runtime/runtime.ts'
export { sleep } from './runtime/sleep.ts'
export { systemRuntime } from './runtime/system-runtime.ts'

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
