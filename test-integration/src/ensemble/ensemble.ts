import type { EnsembleDescription } from './description.ts'
import { EnsembleNode } from './ensemble-node.ts'
import { launch, remove } from './launch.ts'
import type { EnsembleOptions } from './launch.ts'
import { until } from './until.ts'
import { parseVersion } from '@zk/conform/internal'

export interface WaitOptions {
  /** In ms. @default 60_000 */
  readonly timeout?: number
}

/** Real servers in containers. */
export class Ensemble implements AsyncDisposable {
  readonly description: EnsembleDescription
  readonly nodes: readonly EnsembleNode[]
  /** Only present in the process that started the ensemble. */
  readonly #renew: (() => Promise<void>) | undefined

  /** Starts an ensemble and waits until it is whole. However this process ends, the ensemble is then removed. */
  static async start(options: EnsembleOptions = {}): Promise<Ensemble> {
    const { description, renew } = await launch(options)
    const ensemble = new Ensemble(description, renew)
    try {
      await ensemble.healed({ timeout: 90_000 })
    } catch (error) {
      await ensemble.stop()
      throw error
    }
    return ensemble
  }

  /** Uses an ensemble of another process, with its faults. Does not check whether it exists. */
  static attach(description: EnsembleDescription): Ensemble {
    return new Ensemble(description)
  }

  private constructor(description: EnsembleDescription, renew?: () => Promise<void>) {
    this.description = description
    this.nodes = description.nodes.map((node) => new EnsembleNode(description, node))
    this.#renew = renew
  }

  /** The addresses of all nodes. They stay the same as long as the ensemble lives. */
  get connectString(): string {
    return this.nodes.map((node) => node.address).join(',')
  }

  /**
   * The node that leads, as soon as there is one. If several nodes believe that they lead, it is the one that was elected
   * last. A single node may not have noticed yet that it was cut off: pass it as `except` to wait for its successor.
   */
  leader({ except, timeout = 60_000 }: WaitOptions & { readonly except?: EnsembleNode } = {}): Promise<EnsembleNode> {
    const what = except === undefined ? 'a leader' : `a leader other than ${except.address}`
    const attempt = async (): Promise<EnsembleNode | undefined> => {
      const leader = await this.#elected()
      return leader?.id === except?.id ? undefined : leader
    }
    return until(what, attempt, { timeout, instead: () => this.#describe() })
  }

  /** All nodes except the leader, as soon as they follow it. */
  followers({ timeout = 60_000 }: WaitOptions = {}): Promise<EnsembleNode[]> {
    const what = `one leader and ${this.nodes.length - 1} followers`
    return until(what, () => this.#allFollowers(), { timeout, instead: () => this.#describe() })
  }

  /** The release that the leader reports, such as `3.8.0`. */
  async version(): Promise<string> {
    const leader = await this.leader()
    const attempt = async (): Promise<string | undefined> => parseVersion(await leader.ask('srvr'))
    return until('a leader that reports its version', attempt, { instead: () => this.#describe() })
  }

  /** Waits until one node leads and all others follow. Undoes no fault: see `mend`. */
  async healed(options: WaitOptions = {}): Promise<void> {
    await this.followers(options)
  }

  /** Whether one node leads and all others follow, by their own answers. */
  async isWhole(): Promise<boolean> {
    return (await this.#allFollowers()) !== undefined
  }

  /** What happened to each node that has failed: see `EnsembleNode.failure`. */
  async failures(since?: number): Promise<readonly string[]> {
    const failures = await Promise.all(this.nodes.map((node) => node.failure(since)))
    return failures.filter((failure) => failure !== undefined)
  }

  /**
   * Undoes all faults of all nodes, also those of earlier tests, and waits until the ensemble is whole. Rejects if a node
   * has failed by itself.
   */
  async mend(options: WaitOptions = {}): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.mend()))
    await this.healed(options)
  }

  /**
   * Replaces all nodes by new ones with the same addresses and ports, and waits until they form an ensemble. All data and
   * sessions are lost. Only the process that started the ensemble can do this.
   */
  async renew(options: WaitOptions = {}): Promise<void> {
    if (this.#renew === undefined) throw new TypeError('An ensemble is renewed by the process that started it')
    await this.#renew()
    await this.healed({ timeout: 90_000, ...options })
  }

  /** Removes containers, data and network. Does nothing if this process did not start the ensemble. */
  async stop(): Promise<void> {
    if (this.#renew !== undefined) await remove(this.description.id)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** undefined while not all other nodes follow, or there is no leader. */
  async #allFollowers(): Promise<EnsembleNode[] | undefined> {
    const modes = await Promise.all(this.nodes.map((node) => node.mode()))
    const followers = this.nodes.filter((_, i) => modes[i] === 'follower')
    return followers.length === this.nodes.length - 1 && modes.includes('leader') ? followers : undefined
  }

  async #elected(): Promise<EnsembleNode | undefined> {
    const claims = await Promise.all(this.nodes.map(async (node) => ({ node, status: await node.status() })))
    let last: { readonly node: EnsembleNode; readonly epoch: bigint } | undefined
    for (const { node, status } of claims) {
      if (status?.mode === 'leader' && status.epoch > (last?.epoch ?? -1n)) last = { node, epoch: status.epoch }
    }
    return last?.node
  }

  async #describe(): Promise<string> {
    const lines = await Promise.all(this.nodes.map((node) => node.describe()))
    return lines.map((line) => `  ${line}`).join('\n')
  }
}
