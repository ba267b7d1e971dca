// What a mirror of 100,000 nodes of 100 bytes costs, beside Curator's CuratorCache on the same server: the time until all is
// there, and its memory. Each round starts a Node process and a JVM anew, one after the other, in turns.
//
//     pnpm --filter @zk/bench mirror --rounds 5
//     pnpm --filter @zk/bench mirror --write       keeps the results: bench/results.json, bench/RESULTS.md
import { parseArgs } from 'node:util'
import { connect } from '@zk/recipes'
import { StandaloneServer } from '@zk/test-integration/ensemble'
import { ForeignClients } from '@zk/test-integration/foreign'
import { Program } from '../ratios/process.ts'
import { keep } from '../ratios/results.ts'
import { type MirrorRound, mirrorTable, type Opened } from './page.ts'
import { HALVES, makeTree } from './tree.ts'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    nodes: { type: 'string', default: '100000' },
    write: { type: 'boolean', default: false },
  },
})
const nodes = Number(values.nodes)

await using server = await StandaloneServer.start()
await using clients = await ForeignClients.start()
await using zk = await connect(server.connectString, { sessionTimeout: 30_000 })
await makeTree(zk, nodes)

const rounds: MirrorRound[] = []
for (let round = 0; round < Number(values.rounds); round++) {
  // What runs first has a server that is colder.
  const [curator, mirror] =
    round % 2 === 0 ? [await openCache(), await openMirror()] : reversed(await openMirror(), await openCache())
  rounds.push({ mirror, curator })
  console.log(JSON.stringify(rounds.at(-1)))
}
const mirror = { nodes, rounds }
console.log(mirrorTable(mirror).join('\n'))
if (values.write) await keep({ rows: [], grew: [], mirror })

function reversed<One, Other>(one: One, other: Other): [Other, One] {
  return [other, one]
}

async function openMirror(): Promise<MirrorRound['mirror']> {
  const program = new Program('node', '../mirror/process.js', [server.connectString], undefined)
  try {
    return checked(JSON.parse((await program.line()) ?? '{}') as MirrorRound['mirror'])
  } finally {
    await program.end()
  }
}

async function openCache(): Promise<Opened> {
  const client = await clients.curator(server.connectString, { sessionTimeout: 30_000, isMeasured: true })
  try {
    type Memory = Pick<Opened, 'heap' | 'rss' | 'nodes'>
    const before = await client.call<Memory>('memory')
    // All but the root, which is in neither half.
    const ready = await client.call<number>('openCaches', ...HALVES)
    const after = await client.call<Memory>('memory')
    return checked({ ready, heap: after.heap - before.heap, rss: after.rss - before.rss, nodes: after.nodes + 1 })
  } finally {
    await client.end()
  }
}

function checked<Result extends Opened>(opened: Result): Result {
  if (opened.nodes !== nodes) throw new Error(`It has ${opened.nodes} nodes of ${nodes}`)
  return opened
}
