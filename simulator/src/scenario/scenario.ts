// A whole history before it is played, as data: drawn from a seed, printed, shrunk, stored.
import type { HoldOptions } from '@zk/recipes'
import type { CallPlan } from './calls.ts'
import type { Fault } from './fault.ts'

export const recipes = ['Lock', 'SharedLock', 'LeaderElection'] as const
export type RecipeName = (typeof recipes)[number]

/** What a history is of: a recipe, or plain calls of the client. */
export const workloads = [...recipes, 'ZooKeeper'] as const
export type Workload = (typeof workloads)[number]

export interface Scenario {
  /** Of what is not written here: how long each segment is under way, ids, the jitter of clients and servers. */
  readonly seed: number
  readonly recipe: Workload
  readonly ensemble: EnsemblePlan
  readonly network: NetworkPlan
  /** T asked for by every client at first, in ms. */
  readonly sessionTimeout: number
  readonly clients: readonly ClientPlan[]
  /** By time. */
  readonly faults: readonly ScheduledFault[]
}

export interface EnsemblePlan {
  readonly members: number
  /** In ms. */
  readonly tickTime: number
  /** Ticks. */
  readonly syncLimit: number
  /** Longest time of a message between members, in ms. */
  readonly latency: number
  /** By member, the longest session timeout that it grants, in ms; 0 for 20 ticks. @default 0 for all */
  readonly longestTimeouts?: readonly number[]
  /** Whether clients may prove their identity by SASL DIGEST-MD5, or must. @default they cannot */
  readonly sasl?: 'offered' | 'required'
}

export interface NetworkPlan {
  /** Longest time one way, in ms. */
  readonly latency: number
  /** How likely a segment arrives in several pieces. */
  readonly cuts: number
  /** What the connect string names: each member by a name of its own, or all by one. @default addresses, which are not looked up */
  readonly names?: 'each' | 'one'
}

/** One process with one client. */
export interface ClientPlan {
  /** 1.01 for clocks that gain one percent. */
  readonly clockRate: number
  /** Whether it watches a node, and watches again after every change. */
  readonly watches: boolean
  /** Each does its tasks one after the other, all at the same time. */
  readonly workers: readonly (readonly Task[])[]
  /** Before any task is begun the session changes hands, one time after the other. */
  readonly handOvers?: readonly HandOver[]
  /** Its credential is sent again and again, at such intervals in ms. */
  readonly refreshesEvery?: number
  /** It proves its identity by SASL, on every connection. */
  readonly usesSasl?: true
  /** Of a client that only calls; it has no workers then. */
  readonly calls?: CallPlan
}

/** A client detaches its session, and another goes on with it. */
export interface HandOver {
  /** Pause before it, in ms. */
  readonly after: number
  /** What the other asks for, in ms. */
  readonly sessionTimeout: number
}

/** What a task acquires; only readers do not exclude each other. */
export type Kind = 'exclusive' | 'read' | 'write'

/** Acquire, hold, release; times are in ms. */
export interface Task {
  readonly kind: Kind
  /** `terms` is of elections only, `tryAcquire` of locks only. */
  readonly how: 'acquire' | 'tryAcquire' | 'run' | 'terms'
  /** Pause before it. */
  readonly after: number
  readonly timeout?: number
  /** The signal aborts so long after the call. */
  readonly abortAfter?: number
  /** Pauses while it is held. After each a guarded write, a fenced write, or both. */
  readonly hold: readonly number[]
  readonly writes: 'guarded' | 'fenced' | 'both'
  /** On which terms it is held: each task has a lock of its own. @default those of the recipe */
  readonly holdOptions?: HoldOptions
  /** Of a writer that goes on as a reader instead of releasing: pauses while it holds as such. */
  readonly downgrade?: readonly number[]
}

/** The longest T that any client asks for, in ms. */
export function longestTimeout({ sessionTimeout, clients }: Scenario): number {
  const handOvers = clients.flatMap(({ handOvers = [] }) => handOvers)
  return handOvers.reduce((longest, each) => Math.max(longest, each.sessionTimeout), sessionTimeout)
}

export interface ScheduledFault {
  /** True time in ms since the storm began: when all clients were connected. */
  readonly at: number
  readonly fault: Fault
}
