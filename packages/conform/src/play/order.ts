/** Compares by code units. So the order is the same on every machine, whatever its language. */
export function byCodeUnit(one: string, other: string): number {
  return one < other ? -1 : Number(one > other)
}
