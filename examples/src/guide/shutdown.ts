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
const { signal } = stopping

try {
  // At the end of the block it is closed: that ends the session, and nothing of it stays behind.
  await using zk = await connect(process.argv[2] ?? '127.0.0.1:2181', { signal })
  const election = new LeaderElection(zk, '/leader', { label: `pid ${process.pid}` })
  // Ends without an error when the signal aborts.
  for await (const leadership of election.terms({ signal })) {
    console.log('leads')
    await workUntil(AbortSignal.any([leadership.signal, signal]))
  } // leaving the body resigns
} catch (error) {
  if (error !== signal.reason) throw error // SIGTERM came before there was a session
}
console.log('closed')
// #endregion
