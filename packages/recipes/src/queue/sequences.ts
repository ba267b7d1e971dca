// The numbers that servers append to names, and whether they give the order. A number is the counter of the parent. After
// 2147483647 the counter is used up. From 3.6 on every later child gets 2147483647 (ZOOKEEPER-3249). Before 3.6 the numbers
// continue at -2147483648. If the counter is used up while several creates are under way in the leader, any release may give
// negative numbers.
import type { ContenderName } from './names.ts'

const LAST = 2 ** 31 - 1
/** How many contenders may come while a contender waits. */
const MARGIN = 1_000_000

/** Whether this number shows that the counter is used up, or may be soon. */
export function isExhausted(sequence: number): boolean {
  return sequence < 0 || sequence > LAST - MARGIN
}

/** Whether the numbers give the order of all contenders, now and while any of them waits. */
export function giveOrder(names: readonly ContenderName[]): boolean {
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
