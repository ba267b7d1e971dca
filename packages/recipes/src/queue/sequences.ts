// The numbers that servers append to names, as far as they give the order. They are the parent's counter, which ends:
// from 3.6 on every later child gets 2147483647 too (ZOOKEEPER-3249), and before, numbers went on from -2147483648. While
// requests are under way in the leader negative ones appear in all.
import type { ContenderName } from './names.ts'

const LAST = 2 ** 31 - 1
/** So many may come while one waits. */
const MARGIN = 1_000_000

/** Whether the counter has come, or may soon come, to its end. */
export function isExhausted(sequence: number): boolean {
  return sequence < 0 || sequence > LAST - MARGIN
}

/** Whether all contenders stand in the order of their numbers, now and while any of them waits. */
export function areInOrder(names: readonly ContenderName[]): boolean {
  const seen = new Set<string>()
  for (const { kind, sequence } of names) {
    const number = `${kind.name} ${sequence}`
    if (isExhausted(sequence) || seen.has(number)) return false
    seen.add(number)
  }
  return true
}

export function bySequence(one: ContenderName, other: ContenderName): number {
  return one.sequence - other.sequence
}
