// What is said of a lock afterwards, by those who held it: who, from when to when, with which fencing token.

export type Mode = 'exclusive' | 'shared'

export interface Turn {
  readonly who: string
  readonly mode: Mode
  readonly token: bigint
  /** Machine time in ms. */
  readonly from: number
  /** When its holder knew, or could know, that it held no more. */
  readonly until: number
}

export type Overlap = readonly [earlier: Turn, later: Turn]

/** Pairs that held at once although one of them should have been alone: there must be none. */
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

/** Pairs of exclusive turns, one after the other, whose fencing tokens do not rise: there must be none. */
export function outOfOrder(turns: readonly Turn[]): Overlap[] {
  const alone = inTime(turns).filter(({ mode }) => mode === 'exclusive')
  return alone
    .slice(1)
    .map((turn, index): Overlap => [alone[index]!, turn])
    .filter(([earlier, later]) => earlier.token >= later.token)
}

/** Longest time between the end of one turn and the beginning of the next, in ms. */
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
