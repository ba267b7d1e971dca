import type { Overlap, Turn } from '../history/index.ts'
import type { ChaosReport } from './chaos.ts'
import type { Verdict } from './judge.ts'

/** Whether all required properties held. */
export function holds({ verdicts, stuck, failures, left }: ChaosReport): boolean {
  const isFine = (verdict: Verdict) =>
    verdict.grants > 0 && verdict.overlaps.length === 0 && verdict.outOfOrder.length === 0
  return verdicts.every(isFine) && stuck.length === 0 && failures.length === 0 && left === ''
}

export function describe(report: ChaosReport): string {
  const { faults, verdicts, stuck, failures, left, drained, log } = report
  const sum = (count: (verdict: Verdict) => number): number => verdicts.reduce((all, each) => all + count(each), 0)
  const worst = Math.max(...verdicts.map(({ worstHandOver }) => worstHandOver))
  return [
    `faults survived: ${faults.length} (${counts(faults)})`,
    ...verdicts.map(line),
    `grants: ${sum(({ grants }) => grants)}, overlaps: ${sum(({ overlaps }) => overlaps.length)}, ` +
      `fences out of order: ${sum(({ outOfOrder }) => outOfOrder.length)}, worst hand-over: ${worst.toFixed(0)} ms`,
    `no contender stuck: ${stuck.length === 0 ? `all had their turns ${drained.toFixed(0)} ms after the last fault` : `NO: ${stuck.join(', ')}`}`,
    `left behind: ${left || 'nothing'}`,
    ...failures,
    holds(report) ? 'It held.' : `IT DID NOT HOLD. The history is in ${log}`,
  ].join('\n')
}

function line({ recipe, grants, lost, overlaps, outOfOrder, worstHandOver, worstWait }: Verdict): string {
  const losses = Object.entries(lost).map(([reason, count]) => `${count} ${reason}`)
  const pairs = [...overlaps.slice(0, 3), ...outOfOrder.slice(0, 3)].map((pair) => `\n    ${pairText(pair)}`)
  return (
    `  ${recipe}: ${grants} grants, lost: ${losses.join(', ') || 'none'}; overlaps: ${overlaps.length}, ` +
    `worst hand-over ${worstHandOver.toFixed(0)} ms, worst wait ${worstWait.toFixed(0)} ms${pairs.join('')}`
  )
}

function pairText([earlier, later]: Overlap): string {
  const text = ({ contender, mode, token, from, until }: Turn) =>
    `${contender} (${mode}, 0x${token.toString(16)}) ${from.toFixed(1)} to ${until.toFixed(1)}`
  return `${text(earlier)} and ${text(later)}`
}

function counts(items: readonly string[]): string {
  const count = new Map<string, number>()
  for (const item of items) count.set(item, (count.get(item) ?? 0) + 1)
  return [...count]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([item, times]) => `${item} ${times}`)
    .join(', ')
}
