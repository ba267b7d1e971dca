// What an operation costs this client, compared with another client and with the floor. Each measurement runs in a separate
// process. Rounds of the clients alternate, so that other load of the machine affects all of them.
//
//     pnpm bench                       every work, five rounds, on Node; prints a table
//     pnpm bench --works 'get,' --rounds 9
//     pnpm bench --runtimes node,deno,bun
//     pnpm bench --growth              how the cost grows with requests in flight, watches and waiters
//     pnpm bench --write               keeps the results: bench/results.json, bench/RESULTS.md, docs/cost.svg, docs/growth.svg
//     pnpm bench --check               compares the ratios with the kept ones
import { parseArgs } from 'node:util'
import { connect, op, type ZooKeeper } from '@zk/recipes'
import { StandaloneServer } from '@zk/test-integration/ensemble'
import { check } from './check.ts'
import { isBuilt } from './clients/zookeeper.ts'
import { type Growth, growths } from './growth.ts'
import type { Measurement } from './measure.ts'
import { CORES, Program } from './process.ts'
import { keep } from './results.ts'
import { FLOOR, type Grown, grown, NATIVE, OURS, PEER, printGrown, printRow, type Row, summary } from './row.ts'
import { CROWD, LARGE, LOCK, shared, SMALL, WATCHED, watchedName, WATCHES, type Work, works } from './works.ts'

const { values } = parseArgs({
  options: {
    works: { type: 'string', default: '' },
    rounds: { type: 'string', default: '5' },
    runtimes: { type: 'string', default: 'node' },
    growth: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    check: { type: 'boolean', default: false },
  },
})
const rounds = Number(values.rounds)
const chosen = values.growth ? [] : works.filter(({ name }) => name.includes(values.works))
const growing = values.growth ? growths.filter(({ subject }) => subject.includes(values.works)) : []
const clients = [OURS, PEER, FLOOR]
const hasNative = isBuilt()

await using server = await StandaloneServer.start({ cpus: CORES.server })
const stub = new Program('node', './stub-server.js', [], CORES.server)
const stubAddress = `127.0.0.1:${await stub.line()}`
const zk = await connect(server.connectString, { sessionTimeout: 30_000 })
await createShared(zk)
let runs = 0

const rows: Row[] = []
for (const runtime of values.runtimes.split(',')) {
  for (const work of chosen) {
    const measured = await measureAll(runtime, work, hasNative && runtime === 'node' ? [...clients, NATIVE] : clients)
    const row = summary(runtime, work, measured)
    rows.push(row)
    printRow(row)
  }
}
const grew: Grown[] = []
for (const growth of growing) grew.push(await measureGrowth(growth))
await zk.close()
await stub.end()
if (values.write) await keep({ rows, grew })
if (values.check && !(await check(rows))) process.exitCode = 1

async function measureGrowth({ subject, unit, one, sizes, workOf }: Growth): Promise<Grown> {
  const points = []
  for (const size of sizes) points.push(grown(size, await measureAll('node', workOf(size), clients)))
  const all = { subject, unit, one, points }
  printGrown(all)
  return all
}

/** The measurements of all rounds, by client. */
async function measureAll(
  runtime: string,
  work: Work,
  among: readonly string[],
): Promise<Record<string, Measurement[]>> {
  const measured: Record<string, Measurement[]> = {}
  // When a work is done for the first time, the server compiles the code for it. No client should pay for that.
  await measure(runtime, FLOOR, work)
  const failed = new Set<string>()
  for (let round = 0; round < rounds; round++) {
    for (const client of rotated(among, round)) {
      if (failed.has(client)) continue
      try {
        const measurement = await measure(runtime, client, work)
        measured[client] = [...(measured[client] ?? []), measurement]
      } catch (error) {
        // The native client loses its session if it must read much at once. Then its column stays empty.
        if (client !== NATIVE) throw error
        console.error(String(error))
        failed.add(client)
        delete measured[client]
      }
    }
  }
  return measured
}

async function measure(runtime: string, client: string, work: Work): Promise<Measurement> {
  const path = `/run-${++runs}`
  const isReal = work.server === 'real'
  if (isReal) await createOwn(zk, path)
  const address = isReal ? server.connectString : stubAddress
  const program = new Program(
    runtime,
    './measure.js',
    [client, work.name, address, path, String(work.count)],
    CORES.client,
  )
  try {
    for (let line = await program.line(); line !== undefined; line = await program.line()) {
      if (line === 'fire') await createAll(zk, WATCHES, (index) => `${path}/${watchedName(index)}`)
      // The native client also prints lines.
      else if (line.startsWith('{')) return JSON.parse(line) as Measurement
    }
  } finally {
    await program.end()
  }
  throw new Error(`${client} on ${runtime} has ended without a result: ${work.name}`)
}

/** Another client comes first in each round. */
function rotated<Value>(values: readonly Value[], by: number): Value[] {
  return values.map((_, index) => values[(index + by) % values.length]!)
}

async function createShared(client: ZooKeeper): Promise<void> {
  await client.create(shared.root)
  await client.create(shared.small, new Uint8Array(SMALL).fill(97))
  await client.create(shared.large, new Uint8Array(LARGE).fill(98))
  await client.create(shared.crowd)
  const name = (index: number) => `${shared.crowd}/child-${String(index).padStart(6, '0')}`
  await createAll(client, CROWD, name)
}

async function createOwn(client: ZooKeeper, path: string): Promise<void> {
  await client.create(path)
  await Promise.all([client.create(`${path}/${LOCK}`), client.create(`${path}/${WATCHED}`)])
}

/** Creates all nodes in one transaction, so that all watches fire at once. */
async function createAll(client: ZooKeeper, count: number, path: (index: number) => string): Promise<void> {
  await client.multi(Array.from({ length: count }, (_, index) => op.create(path(index))))
}
