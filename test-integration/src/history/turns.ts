// The turns of the contenders of a lock: which contender held, from when to when, with which fencing token.

export type Mode = 'exclusive' | 'shared'

export interface Turn {
  readonly contender: string
  readonly mode: Mode
  readonly token: bigint
  /** Which permits of a semaphore. */
  readonly permits?: readonly number[] | undefined
  /** Machine time in ms. */
  readonly from: number
  /** The time from which the holder knew, or could know, that it no longer held. */
  readonly until: number
}

export type Overlap = readonly [earlier: Turn, later: Turn]

/** The pairs of turns that overlap although at least one of them is exclusive. There must be none. */
export function overlaps(turns: readonly Turn[]): Overlap[] {
  const found: Overlap[] = []
  let open: Turn[] = []
  for (const turn of inTime(turns)) {
    open = open.filter(({ until }) => until > turn.from)
    for (const other of open) {
      if (turn.mode === 'exclusive' || other.mode === 'exclusive') found.push([other, turn])
    }
    open.push(turn)
  }
  return found
}

/** The pairs of consecutive exclusive turns whose fencing tokens do not rise. There must be none. */
export function outOfOrder(turns: readonly Turn[]): Overlap[] {
  const alone = inTime(turns).filter(({ mode }) => mode === 'exclusive')
  return alone
    .slice(1)
    .map((turn, index): Overlap => [alone[index]!, turn])
    .filter(([earlier, later]) => earlier.token >= later.token)
}

/** The turns with each permit of a semaphore: each list is to be compared as the turns of a lock are. */
export function byPermit(turns: readonly Turn[]): Turn[][] {
  const permits = new Set(turns.flatMap((turn) => turn.permits ?? []))
  return [...permits].map((permit) => turns.filter((turn) => turn.permits?.includes(permit)))
}

/** The longest time between the end of one turn and the beginning of the next, in ms. */
export function longestGap(turns: readonly Turn[]): number {
  let busyUntil = Infinity
  let longest = 0
  for (const { from, until } of inTime(turns)) {
    longest = Math.max(longest, from - busyUntil)
    busyUntil = busyUntil === Infinity ? until : Math.max(busyUntil, until)
  }
  return longest
}

function inTime(turns: readonly Turn[]): Turn[] {
  return turns.toSorted((one, other) => one.from - other.from)
}
