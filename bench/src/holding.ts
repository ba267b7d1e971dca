// What it costs an ensemble in each session timeout T that locks are held, after the first rounds of confirmation. Counted
// on the wire and at the leader, on three real servers in containers that this program starts.
//
//     pnpm --filter @zk/bench holding --timeout 4000 --timeouts 10
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { connect, type Held, Lock } from '@zk/recipes'
import { Ensemble } from '@zk/test-integration/ensemble'
import { OpCode, Proxy, type Traffic } from '@zk/test-integration/proxy'

const { values } = parseArgs({
  options: { timeout: { type: 'string', default: '4000' }, timeouts: { type: 'string', default: '10' } },
})
const sessionTimeout = Number(values.timeout)
const timeouts = Number(values.timeouts)
/** How long it waits before it counts, in session timeouts, because the first rounds come early. */
const WARM_UP = 2

interface Counts extends Traffic {
  readonly rounds: number
  readonly checks: number
  readonly transactions: number
}

await using ensemble = await Ensemble.start()
const node = await ensemble.leader()

console.log(`per session timeout of ${sessionTimeout} ms, on average of ${timeouts}`)
console.log(row('', ['rounds', 'checks', 'pings', 'to server, B', 'to clients, B', 'transactions']))
await measure('1 client that holds nothing', 1, 0)
await measure('1 lock', 1, 1)
await measure('10 locks of one client', 1, 10)
await measure('100 locks of one client', 1, 100)
await measure('1 lock each of 10 clients', 10, 1)

async function measure(name: string, clients: number, locks: number): Promise<void> {
  // Only this proxy's connections are counted, not those between servers.
  const proxy = await Proxy.start(node.address)
  const connected = await Promise.all(Array.from({ length: clients }, () => connect(proxy.address, { sessionTimeout })))
  const holding: Promise<Held>[] = connected.flatMap((zk, client) =>
    Array.from({ length: locks }, (_, lock) => new Lock(zk, `/locks/report-${client}-${lock}`).acquire()),
  )
  const held = await Promise.all(holding)
  await sleep(WARM_UP * sessionTimeout)
  const before = await count(proxy)
  await sleep(timeouts * sessionTimeout)
  const after = await count(proxy)
  for (const each of held) each.throwIfLost()
  const perTimeout = (key: keyof Counts, digits = 1) => ((after[key] - before[key]) / timeouts).toFixed(digits)
  console.log(
    row(name, [
      perTimeout('rounds'),
      perTimeout('checks'),
      perTimeout('pings'),
      perTimeout('toServer', 0),
      perTimeout('toClient', 0),
      perTimeout('transactions'),
    ]),
  )
  await Promise.all(connected.map((zk) => zk.close()))
  await proxy.close()
}

async function count({ requests, traffic }: Proxy): Promise<Counts> {
  const sent = (opCode: OpCode) => requests.filter((each) => each === opCode).length
  const status = await node.status()
  if (status?.mode !== 'leader') throw new Error(`${node.address} does not lead any more: nothing can be compared`)
  const transactions = Number(status.zxid & 0xffff_ffffn)
  return { ...traffic, rounds: sent(OpCode.sync), checks: sent(OpCode.multi), transactions }
}

function row(name: string, columns: readonly string[]): string {
  return name.padEnd(30) + columns.map((column) => column.padStart(15)).join('')
}
