// Checks the log of the contenders.
import { type Entry, longestGap, outOfOrder, type Overlap, overlaps, readLog, type Turn } from '../history/index.ts'

export interface Verdict {
  readonly recipe: string
  readonly grants: number
  /** How many turns were lost before they ended, for each reason. */
  readonly lost: Readonly<Record<string, number>>
  readonly overlaps: readonly Overlap[]
  readonly outOfOrder: readonly Overlap[]
  /** The longest time between two turns, in ms. */
  readonly worstHandOver: number
  /** The longest time from the request to the grant, in ms. */
  readonly worstWait: number
}

export function judge(recipe: string, file: string): Verdict {
  const entries = readLog(file)
  const turns = turnsByAnswers(entries)
  const lost: Record<string, number> = {}
  for (const { what, why = '' } of entries) {
    if (what === 'ended' && why !== 'finished' && why !== 'Downgraded') lost[why] = (lost[why] ?? 0) + 1
  }
  return {
    recipe,
    grants: turns.length,
    lost,
    overlaps: overlaps(turns),
    outOfOrder: outOfOrder(turns),
    worstHandOver: longestGap(turns),
    worstWait: worstWait(entries),
  }
}

/** Each turn lasts from its grant to the last time at which its holder found that it still held. */
function turnsByAnswers(entries: readonly Entry[]): Turn[] {
  // The mode is part of the key, because a writer that becomes a reader keeps its token.
  const keyOf = ({ mode, token }: Entry): string => `${mode} ${token}`
  const until = new Map<string, number>()
  for (const entry of entries) if (entry.what === 'held') until.set(keyOf(entry), entry.at)
  return entries
    .filter(({ what }) => what === 'gained')
    .map((entry) => ({
      contender: entry.contender,
      mode: entry.mode,
      token: BigInt(entry.token),
      from: entry.at,
      until: Math.max(entry.at, until.get(keyOf(entry)) ?? entry.at),
    }))
}

function worstWait(entries: readonly Entry[]): number {
  const asked = new Map<string, number>()
  let worst = 0
  for (const { what, contender, at } of entries) {
    if (what === 'asked') asked.set(contender, at)
    else if (what === 'gained') worst = Math.max(worst, at - (asked.get(contender) ?? at))
  }
  return worst
}
