// What the rounds of one work give.
import type { Measurement } from './measure.ts'
import type { Work } from './works.ts'

/** Median, smallest and largest of the rounds. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export interface Row {
  readonly runtime: string
  readonly work: string
  /** CPU in µs for each operation, by client. */
  readonly cpu: Readonly<Record<string, Spread>>
  /** Our CPU divided by that of the other client in the same round. */
  readonly ratio: Spread
  /** Our CPU divided by the floor's in the same round. */
  readonly aboveFloor: Spread
  /** In ms, by client. */
  readonly p50: Readonly<Record<string, number | undefined>>
  readonly p99: Readonly<Record<string, number | undefined>>
  /** In MiB, by client. */
  readonly peak: Readonly<Record<string, number>>
}

export const OURS = '@zk'
export const PEER = 'node-zookeeper-client'
export const FLOOR = 'floor'

export function summary(runtime: string, work: Work, measured: Readonly<Record<string, readonly Measurement[]>>): Row {
  const of = <Value>(value: (measurements: readonly Measurement[]) => Value) =>
    Object.fromEntries(Object.entries(measured).map(([client, measurements]) => [client, value(measurements)]))
  const over = (other: string) => spread(measured[OURS]!.map(({ cpu }, round) => cpu / measured[other]![round]!.cpu))
  const medianOf = (name: 'p50' | 'p99') =>
    of((measurements) => {
      const times = measurements.flatMap((each) => each[name] ?? [])
      return times.length === 0 ? undefined : rounded(spread(times).median)
    })
  return {
    runtime,
    work: work.name,
    cpu: of((measurements) => spread(measurements.map(({ cpu }) => cpu))),
    ratio: over(PEER),
    aboveFloor: over(FLOOR),
    p50: medianOf('p50'),
    p99: medianOf('p99'),
    peak: of((measurements) => rounded(spread(measurements.map(({ peak }) => peak)).median)),
  }
}

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = (sorted.length - 1) / 2
  const median = (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
  return { median: rounded(median), min: rounded(sorted[0]!), max: rounded(sorted.at(-1)!) }
}

/** Three digits: more are noise. */
const rounded = (value: number) => Number(value.toPrecision(3))

export function printRow({ runtime, work, cpu, ratio, aboveFloor, p50, peak }: Row): void {
  const columns = [OURS, PEER, FLOOR].map((client) => `${cpu[client]!.median}`.padStart(7))
  const ratios = `${ratio.median} (${ratio.min}–${ratio.max})`.padStart(20) + `${aboveFloor.median}`.padStart(8)
  const times = [OURS, PEER, FLOOR].map((client) => `${p50[client] ?? ''}`.padStart(8)).join('')
  const memory = [OURS, PEER, FLOOR].map((client) => `${Math.round(peak[client]!)}`.padStart(5)).join('')
  console.log(`${runtime} ${work}`.padEnd(42) + columns.join('') + ratios + times + memory)
}
