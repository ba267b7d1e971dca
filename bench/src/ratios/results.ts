// Where the rows are kept: as JSON, as a page, as a chart.
import { readFile, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { chart } from './chart.ts'
import { FLOOR, OURS, PEER, type Row } from './row.ts'

export interface Results {
  readonly node: string
  readonly processor: string
  readonly rounds: number
  readonly rows: readonly Row[]
}

const folder = new URL('../../', import.meta.url)
const kept = new URL('results.json', folder)

export async function readKept(): Promise<Results> {
  return JSON.parse(await readFile(kept, 'utf8')) as Results
}

export async function keep(rows: readonly Row[], rounds: number): Promise<void> {
  const results: Results = { node: process.version, processor: cpus()[0]?.model ?? 'unknown', rounds, rows }
  await writeFile(kept, `${JSON.stringify(results, undefined, 2)}\n`)
  await writeFile(new URL('RESULTS.md', folder), page(results))
  await writeFile(new URL('../docs/cost.svg', folder), chart(rows.filter(({ runtime }) => runtime === 'node')))
}

function page({ node, processor, rounds, rows }: Results): string {
  const head = [
    '# What an operation costs',
    '',
    `CPU of the client in µs for each operation: the median of ${rounds} interleaved rounds, ${node}, ${processor}, the client on one`,
    'core, the server on another. The ratio is to node-zookeeper-client 1.1.3 in the same round (smallest and largest in brackets).',
    'The floor is the protocol by hand, without any feature. Times in ms, memory in MiB. Made by `pnpm bench --write`.',
    '',
  ]
  const runtimes = [...new Set(rows.map(({ runtime }) => runtime))]
  return [
    ...head,
    ...runtimes.flatMap((runtime) =>
      table(
        runtime,
        rows.filter((row) => row.runtime === runtime),
      ),
    ),
  ].join('\n')
}

function table(runtime: string, rows: readonly Row[]): string[] {
  const lines = rows.map(({ work, cpu, ratio, aboveFloor, p50, p99, peak }) =>
    cells([
      work,
      ...[OURS, PEER, FLOOR].map((client) => cpu[client]!.median),
      `**${ratio.median}** (${ratio.min}–${ratio.max})`,
      aboveFloor.median,
      pair(p50[OURS], p99[OURS]),
      pair(p50[PEER], p99[PEER]),
      [OURS, PEER, FLOOR].map((client) => Math.round(peak[client]!)).join(' / '),
    ]),
  )
  return [
    `## ${runtime}`,
    '',
    cells([
      'work',
      '@zk',
      'node-zkc',
      'floor',
      'ratio',
      'to the floor',
      'p50 / p99',
      'node-zkc p50 / p99',
      'peak memory',
    ]),
    cells(Array.from({ length: 9 }, (_, column) => (column === 0 ? '---' : '---:'))),
    ...lines,
    '',
  ]
}

const cells = (values: readonly (string | number)[]) => `| ${values.join(' | ')} |`
const pair = (p50: number | undefined, p99: number | undefined) => (p50 === undefined ? '' : `${p50} / ${p99 ?? ''}`)
