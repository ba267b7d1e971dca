// Connect, create, watch, lock: a whole program in one page. It runs on Node, Deno and Bun.
//
//     node examples/dist/quick-start.js host:port,host:port
import { connect, Lock, op } from '@zk/recipes'

const [connectString = '127.0.0.1:2181'] = process.argv.slice(2)
await using zk = await connect(connectString)
console.log(`session 0x${zk.session.id.toString(16)} at ${zk.session.connection?.server}`)

// An ephemeral node: it is deleted with the session.
const { path } = await zk.create('/quick-start-', 'hello', { mode: 'EPHEMERAL_SEQUENTIAL' })

// Read it, and receive one event when it changes.
const { text, stat, changed } = await zk.getDataAndWatch(path)
await zk.setData(path, 'world', { version: stat.version })
const event = await changed
console.log(`${text}, then ${event.type}`)

// One process at a time.
const lock = new Lock(zk, '/locks/quick-start')
await lock.run(
  async (held) => {
    console.log(`held, fencing token ${held.fencingToken}`)
    // Executed only while the lock is held: the servers check.
    await held.multi([op.setData(path, 'written under the lock')])
  },
  { timeout: 30_000 },
)
console.log(`contenders left: ${(await lock.contenders()).length}`)
console.log('done')
