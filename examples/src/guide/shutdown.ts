// Leads until SIGTERM, then resigns and closes. Code of docs/guide/production.md.
//
//     node examples/dist/guide/shutdown.js host:port,host:port
import { connect, LeaderElection } from '@zk/recipes'

/** Stands for the work of a leader. */
function workUntil(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    // A timer keeps the process alive, as work does.
    const working = setInterval(() => {}, 1_000)
    const stop = () => {
      clearInterval(working)
      resolve()
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}

// #region main
const stopping = new AbortController()
process.once('SIGTERM', () => stopping.abort(new Error('SIGTERM')))

const zk = await connect(process.argv[2] ?? '127.0.0.1:2181', { sessionTimeout: 10_000 })
const election = new LeaderElection(zk, '/leader', { data: `pid ${process.pid}` })
for await (const leadership of election.terms({ signal: stopping.signal })) {
  console.log('leads')
  await workUntil(AbortSignal.any([leadership.signal, stopping.signal]))
} // leaving the body resigns
await zk.close() // ends the session: nothing of it stays behind
console.log('closed')
// #endregion
