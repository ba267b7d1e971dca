// The report of the night: cron starts this on several hosts at the same time. Code of docs/guide/cron.md.
//
//     node examples/dist/guide/nightly.js host:port,host:port

// #region main
import { hostname } from 'node:os'
import { connect, once } from '@zk/recipes'

const date = new Date().toISOString().slice(0, 10) // in UTC, such as 2026-11-27: the same on every host
await using zk = await connect(process.argv[2] ?? 'localhost:2181')

const options = { slot: date, label: hostname(), timeout: 3_600_000 } // waits for a host that is ahead, for up to an hour
const call = await once(zk, '/jobs/report', options, async (held) => {
  await writeReport(date, { signal: held.signal, fence: held.fencingToken })
})
if (call.ran) console.log('written')
else if (call.why === 'done') console.log(`written by ${call.run.label}`)
else console.log('another host is still running it')
// #endregion

/** Stands for the work, which takes as long as the program is told to. */
async function writeReport(name: string, { signal }: { signal: AbortSignal; fence: bigint }): Promise<void> {
  console.log('writes', name)
  await new Promise((resolve) => setTimeout(resolve, Number(process.argv[3] ?? 0)))
  signal.throwIfAborted()
}
