import { setTimeout as sleep } from 'node:timers/promises'
import { type Acquirable, connect, type Held, LockLostError, type ZooKeeper } from '@zk/recipes'
import { append, type Mode, permitsOf } from '../history/index.ts'
import { endWithParent, type WorkerSettings } from './settings.ts'

export type Choice = { readonly mode: Mode; readonly acquirable: Pick<Acquirable<Held>, 'acquire'> }

/** Runs the contenders of this process. Each takes its turns on the locks that `choose` returns, and logs them. */
export async function takeTurns(settings: WorkerSettings, choose: (zk: ZooKeeper) => () => Choice): Promise<void> {
  endWithParent()
  const { connectString, sessionTimeout, clients, contenders } = settings
  const connected = await Promise.all(Array.from({ length: clients }, () => connect(connectString, { sessionTimeout })))
  const choices = connected.map(choose)
  await Promise.all(
    Array.from({ length: contenders }, async (_, index) => {
      const contender = `${settings.name}.${index}`
      for (let turn = 0; turn < settings.turns; turn++) await takeTurn(settings, contender, choices[index % clients]!())
    }),
  )
  await Promise.all(connected.map((zk) => zk.close()))
}

async function takeTurn({ log, turn }: WorkerSettings, contender: string, { mode, acquirable }: Choice): Promise<void> {
  const held = await acquirable.acquire()
  const token = String(held.fencingToken)
  append(log, { contender, mode, what: 'gained', token, permits: permitsOf(held) })
  try {
    await sleep(Math.random() * turn, undefined, { signal: held.signal })
    held.throwIfLost()
    append(log, { contender, mode, what: 'ended', token, why: 'finished' })
  } catch {
    const { reason } = held.signal
    append(log, {
      contender,
      mode,
      what: 'ended',
      token,
      why: LockLostError.is(reason) ? reason.reason : String(reason),
    })
  }
  // The loss is reported already. What remains of the node is deleted in the background.
  await held.release().catch(() => {})
}
