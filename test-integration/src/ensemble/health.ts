// Checks the ensemble that many tests share, so that a broken ensemble is found right after the test that broke it.
import type { Ensemble } from './ensemble.ts'

/** The time limit for undoing the faults of a test, in ms. */
const MENDED_WITHIN = 60_000

export class Health {
  readonly #ensemble: Ensemble
  /** By the wall clock, like the logs. */
  #checkedAt = 0

  /** The ensemble must be one that this process has started. */
  constructor(ensemble: Ensemble) {
    this.#ensemble = ensemble
  }

  /**
   * Makes the ensemble whole again. Undoes faults that were injected. If a node has failed by itself, or the nodes form no
   * quorum any more, replaces all nodes and returns what was wrong.
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
