// Keeps the rows: as JSON, as a page and as charts.
import { readFile, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { type MirrorResults, mirrorTable } from '../mirror/page.ts'
import { chart } from './chart.ts'
import { growthChart } from './growth-chart.ts'
import { bytesOfOne, FLOOR, type Grown, NATIVE, OURS, PEER, type Row } from './row.ts'

export interface Results {
  readonly node: string
  readonly processor: string
  readonly rows: readonly Row[]
  readonly grew: readonly Grown[]
  readonly mirror?: MirrorResults | undefined
}

const folder = new URL('../../', import.meta.url)
const kept = new URL('results.json', folder)

export async function readKept(): Promise<Results> {
  return JSON.parse(await readFile(kept, 'utf8')) as Results
}

/** Adds the results to the kept ones. Results that were not measured this time stay. */
export async function keep({ rows, grew, mirror }: Pick<Results, 'rows' | 'grew' | 'mirror'>): Promise<void> {
  const before = await readKept()
  const results: Results = {
    node: process.version,
    processor: cpus()[0]?.model ?? 'unknown',
    rows: merged(before.rows, rows, ({ runtime, work }) => `${runtime} ${work}`),
    grew: merged(before.grew, grew, ({ subject }) => subject),
    mirror: mirror ?? before.mirror,
  }
  await writeFile(kept, `${JSON.stringify(results, undefined, 2)}\n`)
  await writeFile(new URL('RESULTS.md', folder), page(results))
  await writeFile(new URL('../docs/cost.svg', folder), chart(results.rows.filter(({ runtime }) => runtime === 'node')))
  await writeFile(new URL('../docs/growth.svg', folder), growthChart(results.grew))
}

function merged<Item>(before: readonly Item[], now: readonly Item[], keyOf: (item: Item) => string): Item[] {
  return [...new Map([...before, ...now].map((item) => [keyOf(item), item])).values()]
}

function page({ node, processor, rows, grew, mirror }: Results): string {
  const head = [
    '# What an operation costs',
    '',
    `CPU of the client in µs for each operation: the median of interleaved rounds, Node ${node}, ${processor}, the client on one core,`,
    'the server on another. The ratio is to node-zookeeper-client 1.1.3 in the same round (smallest and largest in brackets). The floor',
    'is the protocol by hand, without any feature. The lock of the others is the one of the recipe page: no lease, and a lost reply leaves',
    'its node. The peak memory, in MiB, is that of @zk, node-zookeeper-client and the floor. Made by `pnpm bench --write`; `results.json`',
    'has all figures, also the times of calls.',
    '',
  ]
  return [...head, ...table(rows), ...growth(grew), ...(mirror === undefined ? [] : mirrorTable(mirror))].join('\n')
}

/** The chart has the curves. */
function growth(grew: readonly Grown[]): string[] {
  if (grew.length === 0) return []
  const clients = [OURS, PEER, FLOOR]
  return [
    '## How the cost grows',
    '',
    `CPU of the client in µs for each operation, on Node, rounds: ${grew[0]!.points[0]!.rounds}. Made by \`pnpm bench --growth --write\`.`,
    '',
    '![Cost of an operation by what is in flight, stands or waits](../docs/growth.svg)',
    '',
    ...grew.flatMap((each) => {
      const bytes = clients.map((client) => `${bytesOfOne(each, client)} bytes (${client})`).join(', ')
      return each.one === undefined ? [] : [`Memory of ${each.one}: ${bytes}.`, '']
    }),
  ]
}

/** One table for all runtimes. Those other than Node have only their ratio. */
function table(rows: readonly Row[]): string[] {
  const onNode = rows.filter(({ runtime }) => runtime === 'node')
  const others = [...new Set(rows.map(({ runtime }) => runtime))].filter((runtime) => runtime !== 'node')
  const hasNative = onNode.some(({ cpu }) => cpu[NATIVE] !== undefined)
  const clients = hasNative ? [OURS, PEER, FLOOR, NATIVE] : [OURS, PEER, FLOOR]
  const names: Readonly<Record<string, string>> = { [PEER]: 'node-zkc' }
  const heads = [
    'work',
    ...clients.map((client) => names[client] ?? client),
    'ratio',
    'to the floor',
    'peak memory',
    ...others.map((runtime) => `ratio on ${runtime}`),
  ]
  const lines = onNode.map(({ work, cpu, ratio, aboveFloor, peak }) =>
    cells([
      work,
      ...clients.map((client) => cpu[client]?.median ?? ''),
      `**${ratio.median}** (${ratio.min}–${ratio.max})`,
      aboveFloor.median,
      [OURS, PEER, FLOOR].map((client) => Math.round(peak[client]!)).join(' / '),
      ...others.map((runtime) => rows.find((row) => row.runtime === runtime && row.work === work)?.ratio.median ?? ''),
    ]),
  )
  return [cells(heads), cells(heads.map((_, column) => (column === 0 ? '---' : '---:'))), ...lines, '']
}

const cells = (values: readonly (string | number)[]) => `| ${values.join(' | ')} |`
