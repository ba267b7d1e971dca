/** What a member has to offer as a leader. */
export interface Vote {
  readonly currentEpoch: number
  readonly lastZxid: bigint
}

/** Whether the first has something that the second may lack (StateSummary.isMoreRecentThan). */
export const isAhead = (a: Vote, b: Vote): boolean =>
  a.currentEpoch === b.currentEpoch ? a.lastZxid > b.lastZxid : a.currentEpoch > b.currentEpoch
