// The ensemble that many tests share: what one of them has broken is found behind that one, and no other gets to see it.
import type { Ensemble } from './ensemble.ts'

/** For a test's own faults to be undone, in ms. */
const MENDED_WITHIN = 60_000

export class Health {
  readonly #ensemble: Ensemble
  /** Wall clock: what the logs have. */
  #checkedAt = 0

  /** Of an ensemble that this process started. */
  constructor(ensemble: Ensemble) {
    this.#ensemble = ensemble
  }

  /**
   * Leaves an ensemble that is whole. Faults that were caused from outside are undone. If a node has failed by itself, or they
   * do not come together any more, all nodes are replaced, and what was broken is told.
   */
  async check(): Promise<string | undefined> {
    const broken = await this.#broken()
    if (broken === undefined) return undefined
    await this.#ensemble.renew()
    this.#checkedAt = Date.now()
    return broken
  }

  async #broken(): Promise<string | undefined> {
    const since = this.#checkedAt
    this.#checkedAt = Date.now()
    const failures = await this.#ensemble.failures(since)
    if (failures.length > 0) return failures.join('\n')
    if (await this.#ensemble.isWhole()) return undefined
    try {
      await this.#ensemble.mend({ timeout: MENDED_WITHIN })
      return undefined
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }
}
