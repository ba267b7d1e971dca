// Compares results with the kept ones. A ratio has changed if the ranges of its rounds do not overlap and the medians differ
// by more than the noise.
import { readKept } from './results.ts'
import type { Row } from './row.ts'

/** How much two quiet runs may differ. */
const NOISE = 0.1

/** Prints the rows that have changed. Returns whether no work has become more expensive. */
export async function check(rows: readonly Row[]): Promise<boolean> {
  const kept = new Map((await readKept()).rows.map((row) => [`${row.runtime} ${row.work}`, row]))
  const dearer: string[] = []
  for (const { runtime, work, ratio } of rows) {
    const before = kept.get(`${runtime} ${work}`)?.ratio
    if (before === undefined) continue
    const isApart = ratio.min > before.max || ratio.max < before.min
    const change = ratio.median / before.median - 1
    if (!isApart || Math.abs(change) <= NOISE) continue
    const line = `${runtime} ${work}: ${before.median} → ${ratio.median} (${change > 0 ? '+' : ''}${(change * 100).toFixed(0)} %)`
    console.log(line)
    if (change > 0) dearer.push(line)
  }
  console.log(dearer.length === 0 ? 'no ratio has become dearer' : `${dearer.length} ratios have become dearer`)
  return dearer.length === 0
}
