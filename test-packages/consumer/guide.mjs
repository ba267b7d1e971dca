// Runs the code that docs/guide and the READMEs show, and prints what it did. The test puts that code into the folder `guide`.
import { LeaderElection, Lock } from '@zk/recipes'
import { TestServer } from '@zk/testing'
import { followEvents, handOver, moveMoney } from './guide/client.js'
import { createOnce, readOrDefault } from './guide/errors.js'
import { connectWithRetry } from './guide/migrating.js'
import { billOnce } from './guide/production.js'
import { lead, writeInParts } from './guide/recipes.js'
import { logStates } from './guide/states.js'

const server = await TestServer.start({ tickTime: 100 })
const { signal } = new AbortController()
const zk = await connectWithRetry(server.connectString, signal)

const dataOf = (path) => new TextDecoder().decode(server.nodes.get(path)?.data)
const lines = []
const note = (...values) => lines.push(values.join(' '))
/** Each round trip lets the client take what has arrived. */
const until = async (isSo) => {
  while (!isSo()) await zk.sync('/')
}

console.log = note
console.info = (state) => note('state', state)
const logging = logStates(zk)
await until(() => lines.includes('state connected'))

note(await readOrDefault(zk, '/config'))
await createOnce(zk, '/config', 'one', signal)
note(await readOrDefault(zk, '/config'))

for (const name of ['ann', 'bob']) await zk.create(`/accounts/${name}`, '100', { parents: true })
await moveMoney(zk, 0, 0)
note('ann', dataOf('/accounts/ann'), 'bob', dataOf('/accounts/bob'))

const customers = () => Promise.resolve(['ann', 'bob'])
const bill = (customer, { fence }) => Promise.resolve(note('bill', customer, fence.length))
await billOnce(zk, { customers, bill }, new AbortController().signal)

let parts = 0
await writeInParts(new Lock(zk, '/locks/parts'), () => Promise.resolve(++parts < 3 ? 'more' : 'done'))
note('parts', parts)

const resigning = new AbortController()
await lead(new LeaderElection(zk, '/leader'), () => Promise.resolve(resigning.abort()), resigning.signal)
note('led')

const listening = followEvents(zk, () => Promise.resolve())
await zk.setData('/config', 'two')
await until(() => lines.includes('NodeDataChanged /config'))
const next = await handOver(zk, server.connectString)
await Promise.all([listening, logging])
note('handed over', next.state.name)
await next.close()

process.argv[2] = server.connectString
await import('./guide/readme.js')
await server.close()
process.stdout.write(JSON.stringify(lines))
