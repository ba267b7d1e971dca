import type { Random } from '@zk/testing/internal'
import type { Check } from '../checks/check.ts'
import type { Operator } from '../play/operator.ts'
import type { Participant, PlayContext, PlayedClient } from '../play/participant.ts'
import type { FaultType, FaultyOp } from '../scenario/fault.ts'
import type { ClientPlan, EnsemblePlan, Scenario } from '../scenario/scenario.ts'
import type { Target } from '../strikes/index.ts'

/** What the clients of a history do: they use one recipe, or make plain calls. All that the simulator knows of it is here. */
export interface Workload<Client extends ClientPlan = ClientPlan> {
  /** Whether runs without `--recipe` draw it. */
  readonly isDrawn?: true
  /** What the clients do, drawn. */
  draw(setting: Setting): Pick<Scenario<Client>, 'clients' | 'semaphore'>
  /** The faults that it promises to survive. */
  readonly faults: readonly FaultType[]
  /** The requests that may be lost, late or refused. */
  readonly ops: readonly FaultyOp[]
  /** What else is drawn for the ensemble. */
  ensemble?(seed: number): Partial<EnsemblePlan>
  /** Whether some members may grant shorter session timeouts. */
  readonly withLimits: boolean
  /** Whether some clients take their servers from the configuration of the ensemble. */
  readonly mayFollow: boolean
  /** Makes some requests larger than servers read. */
  enlarge?(client: Client, random: Random, juteMaxBuffer: number): Client
  /**
   * The longest time in ms that a client may take for all of it when nothing goes wrong, besides the pauses between tasks and
   * the holds.
   */
  time?(client: Client, scenario: Scenario<Client>): number

  /** Creates nodes before the clients connect. */
  prepare?(operator: Operator, scenario: Scenario<Client>): void
  /** The program of a client. */
  play(client: PlayedClient<Client>, context: PlayContext): Participant
  /** What is not yet as the clients have it. It must settle before all finish. */
  differences?(target: Target): readonly string[]
  /** Deletes what no client deletes. */
  cleanUp?(operator: Operator): void

  /** The parents of the nodes that must be gone in the end. The first one numbers them. */
  readonly paths: readonly string[]
  readonly checks: readonly Check[]
}

/** What was drawn before the clients. */
export interface Setting {
  readonly seed: number
  /** The number of clients. */
  readonly clients: number
  readonly random: Random
  /** Draws what came later to scenarios: it changes nothing of what `random` draws. */
  readonly manners: Random
  /** All clients come at once, and many leave before it is their turn, from the middle of the queue. */
  readonly isCrowd: boolean
  readonly ensemble: EnsemblePlan
  readonly sessionTimeout: number
}
