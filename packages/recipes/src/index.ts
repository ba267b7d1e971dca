export type {
  Acquirable,
  AcquireOptions,
  RunOptions,
  TryAcquireOptions,
  TryRunOptions,
  TryRunResult,
} from './held/acquirable.ts'
export { fencingText, type Held } from './held/held.ts'
export type { LockOptions } from './held/lock-options.ts'
export type { HeldWhile, HoldOptions } from './lease/hold-options.ts'
export type { QueuePlace } from './queue/wait.ts'
export type { ContenderInfo } from './queue/queue.ts'
export type { ACLOptions } from './kernel/acl-options.ts'

// Recipes that hold something.
export { type ExclusiveLockOptions, Lock } from './lock/lock.ts'
export { SharedLock } from './shared-lock/shared-lock.ts'
export type { WriteHeld } from './shared-lock/write-held.ts'
export { Semaphore, type SemaphoreOptions } from './semaphore/semaphore.ts'
export type { HolderInfo } from './semaphore/leases.ts'
export type { SemaphoreHeld } from './semaphore/semaphore-held.ts'
export { MultiLock } from './multi-lock/multi-lock.ts'
export type { MultiHeld } from './multi-lock/multi-held.ts'
export { LeaderElection } from './election/leader-election.ts'
export { once, type OnceOptions, type OnceResult } from './once/once.ts'
export type { OnceRun } from './once/record.ts'

// Recipes of members and values.
export { Group, type JoinOptions } from './group/group.ts'
export type { Member } from './group/member.ts'
export type { Membership } from './group/membership.ts'
export type { MembershipState } from './group/membership-state.ts'
export {
  type NewInstance,
  type Registration,
  ServiceDiscovery,
  type ServiceDiscoveryOptions,
} from './discovery/service-discovery.ts'
export { type ServiceInstance, uriOf } from './discovery/service-instance.ts'
export { Barrier } from './barrier/barrier.ts'
export {
  BarrierEntry,
  DoubleBarrier,
  type DoubleBarrierOptions,
  type EnterOptions,
} from './double-barrier/double-barrier.ts'
export { Counter } from './counter/counter.ts'
export { Mirror, type MirrorOptions } from './mirror/mirror.ts'
export type { OpenMirror } from './mirror/open-mirror.ts'
export type { MirrorChange, MirroredNode } from './mirror/mirrored-node.ts'

// Errors and diagnostics.
export { LostError, type LostErrorCode } from './errors/lost-error.ts'
export { RecipeError, type RecipeErrorCode } from './errors/recipe-error.ts'
export { type Blocker, WaitTimeoutError, type WaitTimeoutErrorCode } from './errors/wait-timeout-error.ts'
export type { AcquireMessage, RecipeMessages } from './queue/diagnostics.ts'
export type { GroupMessages } from './group/diagnostics.ts'

// Exports of the client that a program with locks needs, so that one import is enough.
export {
  connect,
  ConnectError,
  type ConnectOptions,
  isTransient,
  KeeperError,
  op,
  sleep,
  ZkError,
  ZooKeeper,
} from '@zk/client'
