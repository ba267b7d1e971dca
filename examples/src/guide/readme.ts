// The code of README.md: a whole program.
//
//     node examples/dist/guide/readme.js host:port,host:port

// #region lock
import { connect, Lock } from '@zk/recipes'

await using zk = await connect(process.argv[2] ?? 'zk1:2181,zk2:2181,zk3:2181') // closed at the end, also after an error
const lock = new Lock(zk, '/locks/report')

await lock.run(async (held) => {
  // One process at a time, in the order they asked.
  await writeReport({ signal: held.signal, fence: held.fencingToken })
})
// #endregion

async function writeReport({ signal, fence }: { signal: AbortSignal; fence: bigint }): Promise<void> {
  await Promise.resolve()
  signal.throwIfAborted()
  console.log(`written with fence ${fence}`)
}
