// A history before it is played, as data. It is drawn from a seed, printed, shrunk, stored.
import type { HoldOptions } from '@zk/recipes'
import type { Fault } from './fault.ts'
import type { HoldKind } from './hold-kind.ts'

export interface Scenario<Client extends ClientPlan = ClientPlan> {
  /** The seed of everything that is not written here: latencies of segments, ids, the jitter of clients and servers. */
  readonly seed: number
  /** What the clients do: the name of a recipe, or of the client for plain calls. See `workloads` (`recipes/index.ts`). */
  readonly recipe: string
  readonly ensemble: EnsemblePlan
  readonly network: NetworkPlan
  /** The T that every client requests at first, in ms. */
  readonly sessionTimeout: number
  readonly clients: readonly Client[]
  /** Ordered by time. */
  readonly faults: readonly ScheduledFault[]
  /** What is the same for all tasks of a semaphore. */
  readonly semaphore?: SemaphorePlan
}

export interface SemaphorePlan {
  /** How many permits there are at first. */
  readonly permits: number
  /**
   * Whether the number is stored from the beginning, and all clients follow it. Then they may change it. Otherwise all of them
   * are made with this number, and the first one stores it.
   */
  readonly isStored: boolean
}

export interface EnsemblePlan {
  readonly members: number
  /** In ms. */
  readonly tickTime: number
  /** The limit in ticks. */
  readonly syncLimit: number
  /** The longest time of a message between members, in ms. */
  readonly latency: number
  /** The longest session timeout that each member grants, in ms; 0 for 20 ticks. @default 0 for all */
  readonly longestTimeouts?: readonly number[]
  /** Whether clients may prove their identity by SASL DIGEST-MD5, or must. @default they cannot */
  readonly sasl?: 'offered' | 'required'
  /** The release of the servers. @default '3.8', so that the histories of seeds do not change with the newest release */
  readonly release?: '3.5'
  /** The longest request that servers read, in bytes. @default far more than any client sends */
  readonly juteMaxBuffer?: number
}

export interface NetworkPlan {
  /** The longest time one way, in ms. */
  readonly latency: number
  /** The probability that a segment arrives in several pieces. */
  readonly cuts: number
  /** The names in the connect string: one for each member, or one for all. @default addresses, which are not looked up */
  readonly names?: 'each' | 'one'
  /** How long every look-up takes besides, in ms. @default 0 */
  readonly lookUp?: number
  /** The probability that a client gets a reset when a server closes its connection. @default 0 */
  readonly resets?: number
  /** How much later each answer comes than it would, in ms, one after the other. Not those to heartbeats. @default 0 */
  readonly answers?: number
}

/** One process with one client. Recipes without tasks add what their clients do. */
export interface ClientPlan {
  /** 1.01 for clocks that gain one percent. */
  readonly clockRate: number
  /** Whether it watches a node, and watches it again after every change. */
  readonly watches: boolean
  /** The workers run at the same time. Each does its tasks one after the other. */
  readonly workers: readonly (readonly Task[])[]
  /** Before the first task the session changes hands, once for each entry. */
  readonly handOvers?: readonly HandOver[]
  /** The interval at which its credential is sent again, in ms. */
  readonly refreshesEvery?: number
  /** Whether it takes its servers from the configuration of the ensemble. */
  readonly follows?: true
  /** Whether it proves its identity by SASL, on every connection. */
  readonly usesSasl?: true
}

/** A client detaches its session, and another goes on with it. */
export interface HandOver {
  /** The pause before it, in ms. */
  readonly after: number
  /** The timeout that the other client requests, in ms. */
  readonly sessionTimeout: number
}

/** Acquire, hold, release; times are in ms. */
export interface Task {
  readonly kind: HoldKind
  /** `terms` is for elections only, `tryAcquire` for locks only. */
  readonly how: 'acquire' | 'tryAcquire' | 'run' | 'terms'
  /** The pause before it. */
  readonly after: number
  readonly timeout?: number
  /** How long after the call the signal aborts. */
  readonly abortAfter?: number
  /** The pauses during the hold. After each comes a guarded write, a fenced write, or both. */
  readonly hold: readonly number[]
  readonly writes: 'guarded' | 'fenced' | 'both'
  /** The terms of the hold: each task has a lock of its own. @default those of the recipe */
  readonly holdOptions?: HoldOptions
  /** The size of its label, in bytes, if servers do not read a request of that size. */
  readonly label?: number
  /** For a writer that goes on as a reader: the pauses while it holds as a reader. */
  readonly downgrade?: readonly number[]
}

/** The longest T that any client requests, in ms. */
export function longestTimeout({ sessionTimeout, clients }: Scenario): number {
  const handOvers = clients.flatMap(({ handOvers = [] }) => handOvers)
  return handOvers.reduce((longest, each) => Math.max(longest, each.sessionTimeout), sessionTimeout)
}

export interface ScheduledFault {
  /** True time in ms since the storm began, which is when all clients were connected. */
  readonly at: number
  readonly fault: Fault
}
