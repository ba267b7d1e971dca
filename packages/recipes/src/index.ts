export type {
  Acquirable,
  AcquireOptions,
  RunOptions,
  TryAcquireOptions,
  TryRunOptions,
  TryRunResult,
} from './held/acquirable.ts'
export type { QueuePlace } from './queue/wait.ts'
export { Barrier, type BarrierOptions, type BarrierWaitOptions } from './barrier/barrier.ts'
export { type ChangeOptions, Counter, type CounterOptions } from './counter/counter.ts'
export {
  BarrierEntry,
  DoubleBarrier,
  type DoubleBarrierOptions,
  type EnterOptions,
} from './double-barrier/double-barrier.ts'
export { once, type OnceOptions, type OnceResult } from './once/once.ts'
export type { OnceRun } from './once/record.ts'
export type { AcquireMessage, RecipeMessages } from './queue/diagnostics.ts'
export { LostError, type LostErrorCode } from './errors/lost-error.ts'
export { RecipeError, type RecipeErrorCode, type RecipeErrorWith } from './errors/recipe-error.ts'
export {
  type Blocker,
  type NameOwner,
  WaitTimeoutError,
  type WaitTimeoutErrorCode,
  type WaitTimeoutErrorWith,
} from './errors/wait-timeout-error.ts'
export { fencingText, type Held } from './held/held.ts'
export { LeaderElection } from './election/leader-election.ts'
export { type ExclusiveLockOptions, Lock } from './lock/lock.ts'
export { type LockOptions } from './held/lock-options.ts'
export { MultiLock } from './multi-lock/multi-lock.ts'
export type { MultiHeld } from './multi-lock/multi-held.ts'
export type { MultiLockPath } from './multi-lock/paths.ts'
export type { ContenderInfo } from './queue/queue.ts'
export { type CountOption, Semaphore, type SemaphoreOptions } from './semaphore/semaphore.ts'
export type { HolderInfo } from './semaphore/leases.ts'
export type { SemaphoreHeld } from './semaphore/semaphore-held.ts'
export { SharedLock } from './shared-lock/shared-lock.ts'
export type { HeldWhile, HoldListeners, HoldOptions, Suspension } from './lease/hold-options.ts'
export type { DowngradeOptions, WriteHeld } from './shared-lock/write-held.ts'
export { Group, type GroupOptions, type JoinOptions } from './group/group.ts'
export type { Member } from './group/member.ts'
export type { Membership, UpdateOptions } from './group/membership.ts'
export type { MembershipState } from './group/membership-state.ts'
export { Mirror, type MirrorOptions } from './mirror/mirror.ts'
export type { OpenMirror } from './mirror/open-mirror.ts'
export type {
  Added,
  Changed,
  MirrorChange,
  MirroredNode,
  MirroredStat,
  Ready,
  Removed,
} from './mirror/mirrored-node.ts'
export type { GroupMessages } from './group/diagnostics.ts'
export {
  type NewInstance,
  type RegisterOptions,
  type Registration,
  ServiceDiscovery,
  type ServiceDiscoveryOptions,
  type UnreadableInstance,
} from './discovery/service-discovery.ts'
export { type InstanceDetails, type ServiceInstance, type ServiceType, uriOf } from './discovery/service-instance.ts'

// Exports of the client that a program with locks needs, so that one import is enough.
export {
  type ACL,
  type CallOptions,
  connect,
  ConnectError,
  type ConnectOptions,
  CREATOR_ALL_ACL,
  digestMd5,
  isTransient,
  KeeperError,
  type KeeperErrorCode,
  op,
  OPEN_ACL_UNSAFE,
  Perms,
  type Runtime,
  type Session,
  sleep,
  type Stat,
  systemRuntime,
  ZkError,
  ZooKeeper,
} from '@zk/client'
