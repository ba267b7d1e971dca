import type { Ensemble, EnsembleNode } from '../../src/ensemble/index.ts'

/**
 * Kills one node after the other, the leader first, and starts each again, until stopped; then waits until the ensemble is
 * whole. Resolves with the number of nodes killed.
 */
export class Nemesis {
  readonly #ensemble: Ensemble
  readonly #stop = new AbortController()
  readonly #work: Promise<number>

  constructor(ensemble: Ensemble) {
    this.#ensemble = ensemble
    this.#work = this.#harm(this.#stop.signal)
  }

  async stop(): Promise<number> {
    this.#stop.abort()
    return await this.#work
  }

  async #harm(stop: AbortSignal): Promise<number> {
    let killed = 0
    for (; !stop.aborted; killed++) {
      const victim = killed % 2 === 0 ? await this.#ensemble.leader() : await this.#anyFollower()
      await victim.kill()
      // The others form a quorum without it before it comes back.
      await this.#ensemble.leader({ except: victim })
      await victim.start()
      await this.#ensemble.healed()
    }
    return killed
  }

  async #anyFollower(): Promise<EnsembleNode> {
    const followers = await this.#ensemble.followers()
    const follower = followers[Math.floor(Math.random() * followers.length)]
    return follower ?? (await this.#ensemble.leader())
  }
}
