import { connect, type ConnectOptions, Lock, op } from '../src/index.ts'

async function main(options?: ConnectOptions): Promise<void> {
  await using zk = await connect('zk1:2181,zk2:2181,zk3:2181/app', options) // closed at the end of the block
  const lock = new Lock(zk, '/locks/report', { label: 'host-1' })

  // One process at a time, in the order they asked. Released when the body ends, however it ends.
  const written = await lock.run(
    async (held) => {
      const report = await write({ signal: held.signal, token: held.fencingToken })
      held.throwIfLost()
      const [created] = await held.multi([op.create('/report-', report, { mode: 'PERSISTENT_SEQUENTIAL' })])
      return created.path
    },
    { timeout: 5_000 },
  )
  console.log(written)
}

export { main }

function write({ token }: { signal: AbortSignal; token: bigint }): Promise<string> {
  return Promise.resolve(`by ${token}`)
}
