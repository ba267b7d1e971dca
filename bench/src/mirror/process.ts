// One mirror in a process of its own: main.ts starts it. It prints one line of JSON.
import { connect, Mirror } from '@zk/recipes'
import { HALVES, ROOT } from './tree.ts'

/** Changes whose delay is measured. */
const CHANGES = 200

const zk = await connect(process.argv[2]!, { sessionTimeout: 30_000 })
const writer = await connect(process.argv[2]!, { sessionTimeout: 30_000 })
const before = memory()
const began = performance.now()
const mirror = await new Mirror(zk, ROOT).open()
const ready = performance.now() - began
const after = memory()
console.log(
  JSON.stringify({
    ready,
    heap: after.heap - before.heap,
    rss: after.rss - before.rss,
    nodes: mirror.size,
    ...(await measureDelay()),
  }),
)
// main.ts ends it.
setInterval(() => {}, 1_000)

/** In bytes, after a garbage collection. */
function memory(): { heap: number; rss: number } {
  for (let time = 0; time < 3; time++) globalThis.gc!()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heap: heapUsed + external, rss }
}

/** From the event of a node until the mirror tells its change, and the round trip of a read, both in ms. */
async function measureDelay(): Promise<{ delay: number; roundTrip: number }> {
  const path = `${HALVES[0]}/folder-0/node-0000000000`
  const delays: number[] = []
  const roundTrips: number[] = []
  const changes = mirror.watchChanges()
  for (let isReady = false; !isReady;) isReady = (await changes.next()).value?.type === 'Ready'
  for (let change = 0; change < CHANGES; change++) {
    const start = performance.now()
    const { changed } = await zk.getDataAndWatch(path)
    roundTrips.push(performance.now() - start)
    const eventAt = changed.then(() => performance.now())
    const toldAt = changes.next().then(() => performance.now())
    await writer.setData(path, String(change))
    delays.push(Math.max(0, (await toldAt) - (await eventAt)))
  }
  return { delay: median(delays), roundTrip: median(roundTrips) }
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[numbers.length >> 1]!
}
