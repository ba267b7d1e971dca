import type { EnsembleDescription } from './description.ts'
import { EnsembleNode } from './ensemble-node.ts'
import { launch, remove } from './launch.ts'
import type { EnsembleOptions } from './launch.ts'
import { until } from './until.ts'
import { parseVersion } from '../versions/version.ts'

export interface WaitOptions {
  /** In ms. @default 60_000 */
  readonly timeout?: number
}

/** Real servers in containers. */
export class Ensemble implements AsyncDisposable {
  readonly description: EnsembleDescription
  readonly nodes: readonly EnsembleNode[]
  /** Present in the process that started it. */
  readonly #renew: (() => Promise<void>) | undefined

  /** Starts one and waits until it is whole. It is removed when this process ends, however it ends. */
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

  /** Uses an ensemble of another process, faults included. Does not check whether it is there. */
  static attach(description: EnsembleDescription): Ensemble {
    return new Ensemble(description)
  }

  private constructor(description: EnsembleDescription, renew?: () => Promise<void>) {
    this.description = description
    this.nodes = description.nodes.map((node) => new EnsembleNode(description, node))
    this.#renew = renew
  }

  /** All nodes. The same for the life of the ensemble. */
  get connectString(): string {
    return this.nodes.map((node) => node.address).join(',')
  }

  /**
   * The node that leads, as soon as there is one. If several claim it, the one elected last. A single one may be a leader
   * that has not noticed yet that it was cut off. Name that one in `except` to wait for its successor.
   */
  leader({ except, timeout = 60_000 }: WaitOptions & { readonly except?: EnsembleNode } = {}): Promise<EnsembleNode> {
    const what = except === undefined ? 'a leader' : `a leader other than ${except.address}`
    const attempt = async (): Promise<EnsembleNode | undefined> => {
      const leader = await this.#elected()
      return leader?.id === except?.id ? undefined : leader
    }
    return until(what, attempt, { timeout, instead: () => this.#describe() })
  }

  /** All nodes but the leader, as soon as they follow. */
  followers({ timeout = 60_000 }: WaitOptions = {}): Promise<EnsembleNode[]> {
    const what = `one leader and ${this.nodes.length - 1} followers`
    return until(what, () => this.#allFollowers(), { timeout, instead: () => this.#describe() })
  }

  /** The release that the leader reports: `3.8.0`. */
  async version(): Promise<string> {
    const leader = await this.leader()
    const attempt = async (): Promise<string | undefined> => parseVersion(await leader.ask('srvr'))
    return until('a leader that reports its version', attempt, { instead: () => this.#describe() })
  }

  /** Waits until one node leads and all others follow. Undoes nothing: see `mend`. */
  async healed(options: WaitOptions = {}): Promise<void> {
    await this.followers(options)
  }

  /** Whether one node leads and all others follow, according to themselves. */
  async isWhole(): Promise<boolean> {
    return (await this.#allFollowers()) !== undefined
  }

  /** What happened to each node that has failed by itself: see `EnsembleNode.failure`. */
  async failures(since?: number): Promise<readonly string[]> {
    const failures = await Promise.all(this.nodes.map((node) => node.failure(since)))
    return failures.filter((failure) => failure !== undefined)
  }

  /**
   * Undoes every fault of every node, those that a test left behind, and waits until the ensemble is whole. Rejects when a
   * node has failed by itself.
   */
  async mend(options: WaitOptions = {}): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.mend()))
    await this.healed(options)
  }

  /**
   * Replaces all nodes by new ones with the same addresses and ports, and waits until they are whole. All data and sessions
   * are lost. Only for the process that started the ensemble.
   */
  async renew(options: WaitOptions = {}): Promise<void> {
    if (this.#renew === undefined) throw new TypeError('An ensemble is renewed by the process that started it')
    await this.#renew()
    await this.healed({ timeout: 90_000, ...options })
  }

  /** Removes containers, data and network. Does nothing to an ensemble that was only attached to. */
  async stop(): Promise<void> {
    if (this.#renew !== undefined) await remove(this.description.id)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  /** Undefined while there are fewer, or no leader. */
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
