// What PLANTED.md says: which seed finds which planted bug.
import type { InvariantId } from '../checks/check.ts'
import type { FaultType } from '../scenario/fault.ts'
import type { Workload } from '../scenario/scenario.ts'

export interface Finding {
  readonly name: string
  /** What was played; undefined for recipes. */
  readonly recipe: Workload | undefined
  /** Those drawn, if it was not every one. */
  readonly faults: readonly FaultType[] | undefined
  /** The first that shows it, counted from 1; undefined when none did. */
  readonly seed: number | undefined
  /** The invariants that it breaks. */
  readonly by: readonly InvariantId[]
}

const head = `# Planted bugs

Mistakes in client and recipes, planted on purpose (\`src/planted\`), and how many seeds it takes to find each: the number of
the first seed, from 1 on, whose history breaks an invariant. \`pnpm planted --write\` measures them and writes this table.

| bug | played | faults | seeds | broken |
|---|---|---|---|---|
`

export function printTable(findings: readonly Finding[]): string {
  return `${head}${findings.map(printRow).join('\n')}\n`
}

export function printRow({ name, recipe, faults, seed, by }: Finding): string {
  return `| ${name} | ${recipe ?? 'recipes'} | ${faults?.join(', ') ?? 'every'} | ${seed ?? 'never'} | ${by.join(', ')} |`
}

export function parseTable(text: string): Finding[] {
  return [...text.matchAll(/^\| (.+) \| (.+) \| (.+) \| (\d+|never) \| (.*) \|$/gm)].map(
    ([, name, recipe, faults, seed, by]) => ({
      name: name!,
      recipe: recipe === 'recipes' ? undefined : (recipe as Workload),
      faults: faults === 'every' ? undefined : (faults!.split(', ') as FaultType[]),
      seed: seed === 'never' ? undefined : Number(seed),
      by: by === '' ? [] : (by!.split(', ') as InvariantId[]),
    }),
  )
}
