// How much longer a grant takes because its lease must be proven: ms until the grant, in a session with a recent sync and in
// one without, on three real servers in containers.
//
//     pnpm --filter @zk/bench granting --samples 40
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { connect, Lock } from '@zk/recipes'
import { Ensemble } from '@zk/test-integration/ensemble'

const { values } = parseArgs({ options: { samples: { type: 'string', default: '40' } } })
const samples = Number(values.samples)
const sessionTimeout = 2_000

await using ensemble = await Ensemble.start()
const holder = await connect(ensemble.connectString, { sessionTimeout })
const next = await connect(ensemble.connectString, { sessionTimeout })

console.log(`${`ms, of ${samples} each`.padEnd(45)}    median      90 %`)
await compare('a sync', async () => {
  const start = performance.now()
  await next.sync('/')
  return performance.now() - start
})
await compare('free lock', async () => {
  const start = performance.now()
  const held = await new Lock(next, '/locks/free').acquire()
  const ms = performance.now() - start
  await held.release()
  return ms
})
await compare('hand-over', handOver)
await Promise.all([holder.close(), next.close()])

/** Measures both cases in turn, so that other load of the machine affects both. */
async function compare(name: string, measure: (pause: () => Promise<unknown>) => Promise<number>): Promise<void> {
  const quiet: number[] = []
  const recent: number[] = []
  for (let sample = 0; sample < samples; sample++) {
    await sleep(sessionTimeout)
    quiet.push(await measure(() => sleep(sessionTimeout)))
    // Another lock of the session makes the sync, if none is recent.
    const acquireAnother = async () => await (await new Lock(next, '/locks/other').acquire()).release()
    await acquireAnother()
    recent.push(await measure(acquireAnother))
  }
  row(`${name}, in a quiet session`, quiet)
  row(`${name}, behind another grant`, recent)
}

/** The time from the release to the grant of the next contender. `pause` is called before the release. */
async function handOver(pause: () => Promise<unknown>): Promise<number> {
  const held = await new Lock(holder, '/locks/next').acquire()
  let granting: Promise<{ release(): Promise<void> }> | undefined
  await new Promise<void>((resolve) => {
    granting = new Lock(next, '/locks/next').acquire({ onQueued: () => resolve() })
  })
  await pause()
  const start = performance.now()
  const releasing = held.release()
  const granted = await granting!
  const ms = performance.now() - start
  await Promise.all([releasing, granted.release()])
  return ms
}

function row(name: string, times: readonly number[]): void {
  const sorted = times.toSorted((one, other) => one - other)
  const columns = [0.5, 0.9].map((part) => sorted[Math.floor(part * (sorted.length - 1))]!.toFixed(2).padStart(10))
  console.log(name.padEnd(45) + columns.join(''))
}
