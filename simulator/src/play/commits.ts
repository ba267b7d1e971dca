import type { EnsembleModel, LoggedTxn } from '@zk/testing'

/** Collects what the ensemble commits. */
export class Commits {
  readonly log: LoggedTxn[] = []
  readonly #model: EnsembleModel
  #seen = 0n

  constructor(model: EnsembleModel) {
    this.#model = model
  }

  /** It must be called so often that no leader has dropped new transactions from its log. */
  collect(): void {
    const news = this.#model.committedAfter(this.#seen)
    if (news === undefined || news.length === 0) return
    for (const each of news) this.log.push(each)
    this.#seen = news.at(-1)!.header.zxid
  }
}
