// One measurement: one client does one work in a separate process. Prints one line of JSON.
//
//     node dist/ratios/measure.js <client> <work> <connect string> <path> <count>
import type { Connect } from './clients/client.ts'
import { connectFloor } from './clients/floor.ts'
import { growths } from './growth.ts'
import { type Bench, works } from './works.ts'

/** Only the measured client is loaded, because the others would also take memory. */
const clients: Readonly<Record<string, () => Promise<Connect>>> = {
  '@zk': async () => (await import('./clients/zk.ts')).connectZk,
  'node-zookeeper-client': async () => (await import('./clients/node-zookeeper-client.ts')).connectPeer,
  floor: async () => connectFloor,
  zookeeper: async () => (await import('./clients/zookeeper.ts')).connectNative,
}

export interface Measurement {
  /** The CPU time of the process, in µs for each operation. */
  readonly cpu: number
  /** The median time of an operation, in ms, and below the 99th percentile. */
  readonly p50: number | undefined
  readonly p99: number | undefined
  /** The largest memory of the process during its life, in MiB. */
  readonly peak: number
  /** The memory in use after the measured work, in MiB; undefined if the garbage collector cannot be called. */
  readonly used: number | undefined
}

const [clientName = '', workName = '', connectString = '', path = '', count = ''] = process.argv.slice(2)
const load = clients[clientName]
const growing = growths.flatMap(({ sizes, workOf }) => sizes.map(workOf))
const work = [...works, ...growing].find(({ name }) => name === workName)
if (load === undefined || work === undefined) throw new Error(`unknown client or work: ${clientName}, ${workName}`)
const connect = await load()

let measurement: Omit<Measurement, 'peak'> | undefined

const bench: Bench = {
  path,
  count: Number(count),
  connect: () => connect(connectString),
  measure: async (run) => {
    const times: number[] = []
    const before = process.resourceUsage()
    await run((ms) => times.push(ms))
    const after = process.resourceUsage()
    const cpu = after.userCPUTime - before.userCPUTime + after.systemCPUTime - before.systemCPUTime
    times.sort((one, other) => one - other)
    const at = (part: number) => times[Math.floor(part * (times.length - 1))]
    measurement = { cpu: cpu / Number(count), p50: at(0.5), p99: at(0.99), used: await usedMemory() }
  },
  fire: () => console.log('fire'),
}

/** In MiB. Its own cost is not measured. The memory of typed arrays is freed a moment after the first collection. */
async function usedMemory(): Promise<number | undefined> {
  if (globalThis.gc === undefined) return undefined
  globalThis.gc()
  await new Promise(setImmediate)
  globalThis.gc()
  const { heapUsed, external } = process.memoryUsage()
  return (heapUsed + external) / 2 ** 20
}

await work.run(bench)
console.log(JSON.stringify({ ...measurement, peak: process.resourceUsage().maxRSS / 1_024 }))
process.exit(0)
