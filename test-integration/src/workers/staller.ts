// Acquires two locks, stalls as ordered, and reports what it knew about them. Then waits for the next order.
import { systemRuntime, type Runtime } from '@zk/client'
import { once } from 'node:events'
import { connect, Lock } from '@zk/recipes'
import { until } from '../ensemble/until.ts'
import { machineTime } from '../history/index.ts'
import { Hold } from '../stalls/hold.ts'
import { allocate, block, places } from '../stalls/places.ts'
import { locks, type Message, type Order, type Report, type Span, type Stall } from '../stalls/stall.ts'
import { waitedForCpu } from '../stalls/waited-for-cpu.ts'
import { readSettings } from './settings.ts'

/** The time between two checks of `isHeld`, in ms. */
const interval = 40

const { connectString, sessionTimeout, name } = readSettings()
// When the parent process has ended there is no use in going on.
process.once('disconnect', () => process.exit())
send('ready')
for (;;) send(await play(await receive<Order>()))

async function play({ path, stall }: Order): Promise<Report> {
  let wallOffset = 0
  const runtime: Runtime = { ...systemRuntime, wallNow: () => systemRuntime.wallNow() + wallOffset }
  const setWall = (step: number) => void (wallOffset += step)
  await using zk = await connect(connectString, {
    sessionTimeout,
    connectTimeout: 30_000,
    renewSession: false,
    runtime,
  })
  let queued = 0
  const onQueued = () => {
    if (++queued === locks.length) send('queued')
  }
  const acquire = async (lock: string): Promise<Hold> =>
    new Hold(await new Lock(zk, `${path}/${lock}`, { label: name }).acquire({ onQueued }))
  const [asked, signaled] = await Promise.all([acquire(locks[0]), acquire(locks[1])])

  // All stalls begin at the same part of the lease. (Right after the grant the lease may be shorter.)
  const isConfirmed = () => asked.ask() > zk.session.timeout / 2
  if (stall.where !== 'between grant and first use') {
    await until('the lease to be confirmed', async () => isConfirmed() || asked.isNotified, { interval })
  }
  asked.ask()
  signaled.ask()
  const leaseEnd = Math.max(asked.leaseEnd, signaled.leaseEnd)
  const span = await stand(stall, asked, setWall)
  // If the polled hold is kept, its lease is renewed and ends later than the old one. The other lock is only checked when it
  // is too late for any signal. It can be kept although the polled one is lost, but only if it was granted a little earlier.
  const isOutlived = () => asked.ask() > 0 && machineTime() > leaseEnd
  const isTooLate = () => machineTime() > Math.max(leaseEnd, span.to) + zk.session.timeout
  const isClear = async () =>
    signaled.isNotified || isOutlived() || (isTooLate() && (signaled.ask() > 0 || signaled.isNotified))
  await until('what becomes of it', isClear, { interval })
  const report = { stall: span, asked: asked.report(), signaled: signaled.report() }
  await Promise.all([asked.release(), signaled.release()])
  return report
}

async function stand(stall: Stall, asked: Hold, setWall: (step: number) => void): Promise<Span> {
  if (stall.where === 'anywhere') {
    send('stop me')
    return await receive<Span>()
  }
  let from = Infinity
  let to = from
  let waited = 0
  const during = (stands: () => void) => {
    from = Math.min(from, machineTime())
    stands()
    to = machineTime()
    waited = waitedForCpu('self')
    asked.ask()
  }
  if (stall.where === 'no place') during(() => setWall(stall.wallStep))
  else if (stall.where === 'a loop that allocates') await places['a timer'](() => during(() => allocate(stall.bytes)))
  else await places[stall.where]((part) => during(() => block(stall.length * part)))
  return { from, to, waited }
}

function send(message: Message): void {
  process.send?.(message)
}

async function receive<M extends Order | Span>(): Promise<M> {
  const [message] = (await once(process, 'message')) as [M]
  return message
}
