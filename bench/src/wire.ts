// Encodes and decodes the most common messages and 10,000 names, and compares this with the jute module of
// node-zookeeper-client. Times depend on the machine and the moment, so compare only within one run.
//
//     pnpm --filter @zk/bench wire
import { decode, encode, GetChildren2Response } from '@zk/wire'
import { do_not_optimize, measure } from 'mitata'
import { JuteFrame } from './jute.ts'
import { childNames, commonest, getDataReply, getDataRequest, type Message, stat } from './messages.ts'

const ROUNDS = 5
/** The CPU time of one measurement, in ns. */
const CPU_TIME = 40e6
const LENGTH_SIZE = 4
const NAMES = 10_000

for (const message of commonest) assertSameBytes(message)

console.log(row('ns, middle of the best of five rounds', 'ours', 'jute', 'ratio'))
const ratios = new Map<string, number>()
for (const { name, encode, decode, jute } of commonest) {
  const body = encode().subarray(LENGTH_SIZE)
  const theirs = Buffer.from(body)
  await compare(`encode ${name}`, { ours: encode, jute: () => jute.encode() })
  await compare(`encode ${name}, jute's records ready`, { ours: encode, jute: () => jute.encodeRecords() })
  await compare(`decode ${name}`, { ours: () => decode(body), jute: () => jute.decode(theirs) })
}

const children = childNames(NAMES)
const list = encode(GetChildren2Response, { children, stat })
const listBuffer = Buffer.from(list)
const listOfJute = new JuteFrame([['GetChildren2Response', { children, stat }]])
const places = placesOf(listBuffer)
// A method of Buffer that Node's types do not have.
const slices = listBuffer as unknown as { latin1Slice(start: number, end: number): string }
await compare('encode 10,000 names', {
  ours: () => encode(GetChildren2Response, { children, stat }),
  jute: () => listOfJute.encode(),
})
const readNames = (): unknown => decode(GetChildren2Response, list)
await compare('decode 10,000 names', { ours: readNames, jute: () => listOfJute.decode(listBuffer) })
console.log()
console.log(row('', 'ours', 'slices', 'ratio'))
await compare('decode 10,000 names, latin1Slice', {
  ours: readNames,
  jute: () => places.map(([start, end]) => slices.latin1Slice(start, end)),
})

console.log()
must(`encode ${getDataRequest.name}`, 1 / 3)
must(`encode ${getDataRequest.name}, jute's records ready`, 1 / 3)
must(`decode ${getDataReply.name}`, 1 / 3)
must('decode 10,000 names, latin1Slice', 1.2)

/** Measures both in turn, so that other load of the machine affects both. */
async function compare(name: string, of: Readonly<Record<'ours' | 'jute', () => unknown>>): Promise<void> {
  const best = { ours: Infinity, jute: Infinity }
  for (let round = 0; round < ROUNDS; round++) {
    for (const side of ['ours', 'jute'] as const) {
      const run = of[side]
      const { p50 } = await measure(() => do_not_optimize(run()), { min_cpu_time: CPU_TIME })
      best[side] = Math.min(best[side], p50)
    }
  }
  const ratio = best.ours / best.jute
  ratios.set(name, ratio)
  console.log(row(name, best.ours.toFixed(0), best.jute.toFixed(0), ratio.toFixed(2)))
}

function must(name: string, limit: number): void {
  const ratio = ratios.get(name)!
  console.log(
    `${ratio <= limit ? 'reached' : 'MISSED '}  ${name}: ${ratio.toFixed(2)}, must be at most ${limit.toFixed(2)}`,
  )
  if (ratio > limit) process.exitCode = 1
}

function row(name: string, ...columns: readonly string[]): string {
  return name.padEnd(52) + columns.map((column) => column.padStart(10)).join('')
}

/** The positions of each name in the bytes of a list: the arguments of `latin1Slice`. */
function placesOf(buffer: Buffer): (readonly [start: number, end: number])[] {
  const places: (readonly [number, number])[] = []
  let start = 2 * LENGTH_SIZE
  for (let index = 0; index < NAMES; index++) {
    const end = start + buffer.readInt32BE(start - LENGTH_SIZE)
    places.push([start, end])
    start = end + LENGTH_SIZE
  }
  return places
}

function assertSameBytes({ name, encode, jute }: Message): void {
  const [ours, theirs] = [encode(), jute.encode()]
  if (Buffer.compare(ours, theirs) === 0) return
  throw new Error(`${name} is not the same: ours ${Buffer.from(ours).toString('hex')}, jute ${theirs.toString('hex')}`)
}
