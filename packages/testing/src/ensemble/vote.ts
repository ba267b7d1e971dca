/** The state of a member, which decides the election. */
export interface Vote {
  readonly currentEpoch: number
  readonly lastZxid: bigint
}

/** Whether the first state is more recent than the second (StateSummary.isMoreRecentThan). */
export const isAhead = (a: Vote, b: Vote): boolean =>
  a.currentEpoch === b.currentEpoch ? a.lastZxid > b.lastZxid : a.currentEpoch > b.currentEpoch
