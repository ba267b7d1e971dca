// The results of one work over all its rounds.
import type { Measurement } from './measure.ts'
import type { Work } from './works.ts'

/** The median, the smallest and the largest value of the rounds. */
export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export interface Row {
  readonly runtime: string
  readonly rounds: number
  readonly work: string
  /** The CPU time of each client, in µs for each operation. */
  readonly cpu: Readonly<Record<string, Spread>>
  /** Our CPU time divided by that of the other client in the same round. */
  readonly ratio: Spread
  /** Our CPU time divided by that of the floor in the same round. */
  readonly aboveFloor: Spread
  /** The median time of an operation, in ms, and below the 99th percentile, by client. */
  readonly p50: Readonly<Record<string, number | undefined>>
  readonly p99: Readonly<Record<string, number | undefined>>
  /** The largest memory, in MiB, by client. */
  readonly peak: Readonly<Record<string, number>>
}

export const OURS = '@zk'
export const PEER = 'node-zookeeper-client'
export const FLOOR = 'floor'
/** Only measured if it was built, and only on Node. */
export const NATIVE = 'zookeeper'

/** The results for one size of a growth, by client. */
export interface GrownPoint {
  readonly size: number
  readonly rounds: number
  /** The CPU time, in µs for each operation. */
  readonly cpu: Readonly<Record<string, Spread>>
  /** The memory in use, in MiB. */
  readonly used: Readonly<Record<string, number>>
}

export interface Grown {
  readonly subject: string
  readonly unit: string
  readonly one: string | undefined
  readonly points: readonly GrownPoint[]
}

export function summary(runtime: string, work: Work, measured: Readonly<Record<string, readonly Measurement[]>>): Row {
  const of = byClient(measured)
  const over = (other: string) => spread(measured[OURS]!.map(({ cpu }, round) => cpu / measured[other]![round]!.cpu))
  const medianOf = (name: 'p50' | 'p99') =>
    of((measurements) => {
      const times = measurements.flatMap((each) => each[name] ?? [])
      return times.length === 0 ? undefined : rounded(spread(times).median)
    })
  return {
    runtime,
    rounds: measured[OURS]!.length,
    work: work.name,
    cpu: of(cpuOf),
    ratio: over(PEER),
    aboveFloor: over(FLOOR),
    p50: medianOf('p50'),
    p99: medianOf('p99'),
    peak: of((measurements) => rounded(spread(measurements.map(({ peak }) => peak)).median)),
  }
}

export function grown(size: number, measured: Readonly<Record<string, readonly Measurement[]>>): GrownPoint {
  const used = (measurements: readonly Measurement[]) => rounded(spread(measurements.map((each) => each.used!)).median)
  const of = byClient(measured)
  return { size, rounds: measured[OURS]!.length, cpu: of(cpuOf), used: of(used) }
}

/** The memory of one more unit, in bytes: from the difference of the two largest sizes. */
export function bytesOfOne({ points }: Grown, client: string): number {
  const [before, last] = points.slice(-2)
  return rounded(((last!.used[client]! - before!.used[client]!) * 2 ** 20) / (last!.size - before!.size))
}

const byClient =
  (measured: Readonly<Record<string, readonly Measurement[]>>) =>
  <Value>(value: (measurements: readonly Measurement[]) => Value): Record<string, Value> =>
    Object.fromEntries(Object.entries(measured).map(([client, measurements]) => [client, value(measurements)]))

const cpuOf = (measurements: readonly Measurement[]) => spread(measurements.map(({ cpu }) => cpu))

function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((one, other) => one - other)
  const middle = (sorted.length - 1) / 2
  const median = (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
  return { median: rounded(median), min: rounded(sorted[0]!), max: rounded(sorted.at(-1)!) }
}

/** Keeps three digits, because more are noise. */
const rounded = (value: number) => Number(value.toPrecision(3))

export function printGrown({ subject, unit, points }: Grown): void {
  for (const { size, cpu, used } of points) {
    const columns = [OURS, PEER, FLOOR].map((client) => `${cpu[client]!.median}`.padStart(8)).join('')
    const memory = [OURS, PEER, FLOOR].map((client) => `${used[client]!}`.padStart(7)).join('')
    console.log(`${subject}, ${size} ${unit}`.padEnd(52) + columns + memory)
  }
}

export function printRow({ runtime, work, cpu, ratio, aboveFloor, p50, peak }: Row): void {
  const columns = [OURS, PEER, FLOOR, NATIVE].map((client) => `${cpu[client]?.median ?? ''}`.padStart(7))
  const ratios = `${ratio.median} (${ratio.min}–${ratio.max})`.padStart(24) + `${aboveFloor.median}`.padStart(8)
  const times = [OURS, PEER, FLOOR].map((client) => `${p50[client] ?? ''}`.padStart(8)).join('')
  const memory = [OURS, PEER, FLOOR].map((client) => `${Math.round(peak[client]!)}`.padStart(5)).join('')
  console.log(`${runtime} ${work}`.padEnd(42) + columns.join('') + ratios + times + memory)
}
