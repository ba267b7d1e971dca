import { connect, type ZooKeeper } from '@zk/client'
import type { SimProcess, World } from '@zk/testing/internal'
import type { Line, LookUp } from '../history/line.ts'
import type { Recorder } from '../history/recorder.ts'
import type { ClientPlan, Scenario } from '../scenario/scenario.ts'
import type { FencedResource } from './resource.ts'
import { saslOption } from './sasl-user.ts'

/** One client of a scenario. */
export interface PlayedClient<Client extends ClientPlan = ClientPlan> {
  readonly scenario: Scenario<Client>
  readonly plan: Client
  /** Its index. */
  readonly client: number
  readonly runtime: SimProcess
}

/** What all clients share. */
export interface PlayContext {
  readonly world: World
  readonly recorder: Recorder
  readonly resource: FencedResource
  readonly connectString: string
  /** The connections of clients with plain calls. */
  readonly lines: Line[]
  /** Their look-ups. */
  readonly lookUps: LookUp[]
}

/**
 * The program in the process of a client, as a user would write it. It knows nothing of the simulation but its Runtime and
 * its recorder.
 */
export abstract class Participant<Client extends ClientPlan = ClientPlan> {
  protected readonly scenario: Scenario<Client>
  protected readonly plan: Client
  protected readonly client: number
  protected readonly runtime: SimProcess
  protected readonly context: PlayContext
  protected readonly recorder: Recorder
  protected zk: ZooKeeper | undefined
  /** The last version that it saw of the node that it watches; -1 for none. */
  seen = -1

  constructor({ scenario, plan, client, runtime }: PlayedClient<Client>, context: PlayContext) {
    this.scenario = scenario
    this.plan = plan
    this.client = client
    this.runtime = runtime
    this.context = context
    this.recorder = context.recorder
  }

  /** The id of its present session; 0 while it has none. */
  get sessionId(): bigint {
    return this.zk?.session.id ?? 0n
  }

  get isConnected(): boolean {
    return this.zk?.session.connection !== undefined
  }

  async connect(): Promise<void> {
    const { sessionTimeout } = this.scenario
    const times = { sessionTimeout, connectTimeout: sessionTimeout }
    const sasl = saslOption(this.plan.usesSasl)
    this.zk = await connect(this.context.connectString, { runtime: this.runtime, ...times, ...sasl })
  }

  updateServers(connectString: string): void {
    this.zk?.updateServers(connectString)
  }

  /** Starts its work. Returns promises that must settle. `failed` is called with unexpected errors. */
  abstract begin(failed: (error: unknown) => void): readonly Promise<void>[]

  /** Whether its hold is still held. */
  askAll(): void {}

  /** Ends what it still has after all its work: memberships, mirrors. */
  async finish(): Promise<void> {}

  async close(): Promise<void> {
    await this.zk?.close()
  }

  protected pause(delay: number): Promise<void> {
    return new Promise((resolve) => {
      this.runtime.setTimer(delay, resolve)
    })
  }

  protected unexpected(what: string, error: unknown): void {
    this.recorder.add({ type: 'unexpected', what: `${what}: ${String(error)}` })
  }
}
