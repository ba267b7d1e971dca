// Three clients use a single ephemeral node as a lock: it excludes, but each release wakes all of them, in no order.
//
//     node examples/dist/single-node.js
import { connect } from '@zk/recipes'
import { TestEnsemble } from '@zk/testing'
import { acquireSingleNode } from './herd/single-node-lock.ts'

await using ensemble = await TestEnsemble.start()
const names = ['first', 'second', 'third']
let holders = 0
await Promise.all(
  names.map(async (name) => {
    await using zk = await connect(ensemble.connectString)
    const release = await acquireSingleNode(zk, '/lock', () => console.log(`${name} waits`))
    holders++
    console.log(`${name} holds, ${holders} at once`)
    holders--
    await release()
  }),
)
const events = ensemble.history.events()
console.log(`${events.length} notifications for ${names.length} turns`)
