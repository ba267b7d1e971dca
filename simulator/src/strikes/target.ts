import type { EnsembleModel } from '@zk/testing'
import type { Link, Network, Resolver, SimProcess, World } from '@zk/testing/internal'
import type { Recorder } from '../history/recorder.ts'
import type { Operator } from '../play/operator.ts'
import type { Participant } from '../play/participant.ts'
import type { ClientTarget, FaultOf, FaultType } from '../scenario/fault.ts'

export interface Client {
  readonly process: SimProcess
  readonly program: Participant
}

/** The targets of faults. */
export interface Target {
  readonly model: EnsembleModel
  readonly network: Network
  /** undefined if clients use addresses. */
  readonly resolver: Resolver | undefined
  /** The hosts of the connect string. */
  readonly hosts: readonly string[]
  readonly clients: readonly Client[]
  readonly recorder: Recorder
  readonly operator: Operator
  readonly world: World
}

/** The index of the target client. */
export function clientOf({ recorder }: Target, target: ClientTarget): number {
  return target === 'holder' ? (recorder.holder ?? 0) : target
}

/** The connections of the target client. */
export function linksOf(target: Target, client: ClientTarget): Link[] {
  return [...target.network.linksOf(target.clients[clientOf(target, client)]!.process)]
}

/** Ends a fault. */
export type Heal = () => void

/** Carries out a fault. undefined if there is nothing to end, or no target. */
export type Strike<Type extends FaultType> = (fault: FaultOf<Type>, target: Target) => Heal | undefined
