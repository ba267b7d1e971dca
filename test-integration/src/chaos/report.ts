import type { ChaosReport } from './chaos.ts'
import { countsOf, type Verdict } from './recipe.ts'

/** How many violations of a recipe are printed. */
const SHOWN = 5

/** Whether all required properties held. */
export function holds({ verdicts, stuck, failures, left }: ChaosReport): boolean {
  const isFine = ({ done, violations }: Verdict) => done > 0 && violations.length === 0
  return verdicts.every(isFine) && stuck.length === 0 && failures.length === 0 && left === ''
}

export function describe(report: ChaosReport): string {
  const { faults, verdicts, stuck, failures, left, recovered, log } = report
  const slowest = Math.max(...recovered).toFixed(0)
  const progress = `all had a turn in each of ${recovered.length} phases, ${slowest} ms after its last fault at most`
  return [
    `faults survived: ${faults.length} (${countsText(countsOf(faults))})`,
    ...verdicts.map(line),
    `violations: ${verdicts.reduce((sum, { violations }) => sum + violations.length, 0)}`,
    `no contender stuck: ${stuck.length === 0 ? progress : `NO: ${stuck.join(', ')}`}`,
    `left behind: ${left || 'nothing'}`,
    ...failures,
    holds(report) ? 'It held.' : `IT DID NOT HOLD. The history is in ${log}`,
  ].join('\n')
}

function line({ recipe, done, unit, counts, worst, violations }: Verdict): string {
  const times = Object.entries(worst).map(([what, ms]) => `worst ${what} ${ms.toFixed(0)} ms`)
  const others = countsText(counts) || 'nothing else'
  const shown = violations.slice(0, SHOWN).map((violation) => `\n    ${violation}`)
  return `  ${recipe}: ${done} ${unit} (${others}); ${[...times, `violations: ${violations.length}`].join(', ')}${shown.join('')}`
}

function countsText(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([what, count]) => `${what} ${count}`)
    .join(', ')
}
