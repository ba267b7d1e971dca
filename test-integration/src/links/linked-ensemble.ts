import { Ensemble, type EnsembleNode, type EnsembleOptions } from '../ensemble/index.ts'
import { engineHost, LOOPBACK } from '../ensemble/docker.ts'
import { MemberLinks } from './member-links.ts'

/** An ensemble whose members reach each other only through this process. */
export class LinkedEnsemble implements AsyncDisposable {
  readonly ensemble: Ensemble
  readonly links: MemberLinks

  /** Needs a Docker engine on this machine, because its containers connect to this process. */
  static async start(options: Omit<EnsembleOptions, 'meetingPoints'> = {}): Promise<LinkedEnsemble> {
    if ((await engineHost()) !== LOOPBACK) {
      throw new Error('The Docker engine is on another machine: servers in containers there cannot reach this process.')
    }
    let links: MemberLinks | undefined
    try {
      const ensemble = await Ensemble.start({
        ...options,
        meetingPoints: async (network) => {
          await links?.close()
          links = await MemberLinks.start(network)
          return links.meetingPoints
        },
      })
      return new LinkedEnsemble(ensemble, links!)
    } catch (error) {
      await links?.close()
      throw error
    }
  }

  private constructor(ensemble: Ensemble, links: MemberLinks) {
    this.ensemble = ensemble
    this.links = links
  }

  /** Cuts a node off from all other nodes. */
  isolate(node: EnsembleNode): void {
    for (const other of this.#others(node)) this.links.cut(node, other)
  }

  /** Undoes all faults of links and nodes, and waits until the ensemble is whole. */
  async mend(): Promise<void> {
    this.links.mend()
    await this.ensemble.mend()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.ensemble.stop()
    await this.links.close()
  }

  #others(node: EnsembleNode): EnsembleNode[] {
    return this.ensemble.nodes.filter(({ id }) => id !== node.id)
  }
}
