// One contender, in a separate process. It takes its turn once, and tries again if the lock is lost during the turn.
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, Lock, LostError } from '@zk/recipes'
import { machineTime } from '@zk/test-integration/history'
import type { Report } from './report.ts'

const [connectString = '', path = '', label = '', turn = '0'] = process.argv.slice(2)

const zk = await connect(connectString, { sessionTimeout: 10_000 })
const lock = new Lock(zk, path, { label })
while (!(await takeTurn())) {
  // The lock was lost: other contenders may have held during the work. So queue again.
}
await zk.close()
process.disconnect()

async function takeTurn(): Promise<boolean> {
  const held = await lock.acquire()
  const token = String(held.fencingToken)
  send({ type: 'gained', at: machineTime(), token })
  try {
    await sleep(Number(turn), undefined, { signal: held.signal })
    held.throwIfLost()
    // This is reported before the release, because after it the next contender may report first.
    send({ type: 'finished', at: machineTime(), token })
    return true
  } catch (error) {
    const cause = held.signal.reason ?? error
    send({ type: 'lost', at: machineTime(), token, why: LostError.is(cause) ? cause.code : String(cause) })
    return false
  } finally {
    await held.release()
  }
}

function send(report: Report): void {
  process.send?.(report)
}
