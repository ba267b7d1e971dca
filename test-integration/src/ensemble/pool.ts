import { DEBIAN } from '@zk/conform/internal'
import type { EnsembleDescription } from './description.ts'
import type { Ensemble } from './ensemble.ts'
import { Health } from './health.ts'
import { isDebian } from './image.ts'

/** The ensemble that the test files of a worker share. */
export interface SharedEnsemble {
  readonly description: EnsembleDescription
  /** For example `3.9.6`. */
  readonly release: string
}

interface Member {
  readonly ensemble: Ensemble
  readonly health: Health
  readonly shared: SharedEnsemble
}

/** One ensemble for each worker, started when its first test file asks for it. */
export class EnsemblePool {
  readonly #start: () => Promise<Ensemble>
  readonly #members = new Map<string, Promise<Member>>()

  constructor(start: () => Promise<Ensemble>) {
    this.#start = start
  }

  async of(worker: string): Promise<SharedEnsemble> {
    let member = this.#members.get(worker)
    if (member === undefined) {
      member = this.#begin()
      this.#members.set(worker, member)
    }
    return (await member).shared
  }

  /** Makes the ensemble of this worker whole again, if it has one: see `Health.check`. */
  async check(worker: string): Promise<{ readonly broken?: string | undefined }> {
    const member = await this.#members.get(worker)
    return { broken: await member?.health.check() }
  }

  async stop(): Promise<void> {
    const members = await Promise.allSettled(this.#members.values())
    await Promise.all(
      members.map(async (member) => {
        if (member.status === 'fulfilled') await member.value.ensemble.stop()
      }),
    )
  }

  async #begin(): Promise<Member> {
    const ensemble = await this.#start()
    const shared = { description: ensemble.description, release: isDebian() ? DEBIAN : await ensemble.version() }
    return { ensemble, health: new Health(ensemble), shared }
  }
}
