// What a contender does: it takes its turn once, and tries again if the lock is lost during the turn.
import { Lock, LostError, sleep, type ZooKeeper } from '@zk/recipes'

/** What a contender reports to the demo. `at` is in ms of a clock that all contenders share. */
export type Report =
  | { readonly type: 'gained'; readonly at: number; readonly token: string }
  | { readonly type: 'lost'; readonly at: number; readonly token: string; readonly why: string }
  | { readonly type: 'finished'; readonly at: number; readonly token: string }

export interface Contender {
  readonly path: string
  readonly label: string
  /** How long its turn takes, in ms. */
  readonly turn: number
  readonly now: () => number
  readonly send: (report: Report) => void
}

export async function finishTurn(zk: ZooKeeper, contender: Contender): Promise<void> {
  const lock = new Lock(zk, contender.path, { label: contender.label })
  while (!(await takeTurn(zk, lock, contender))) {
    // The lock was lost: other contenders may have held during the work. So queue again.
  }
}

async function takeTurn(zk: ZooKeeper, lock: Lock, { turn, now, send }: Contender): Promise<boolean> {
  const held = await lock.acquire()
  const token = String(held.fencingToken)
  send({ type: 'gained', at: now(), token })
  try {
    await sleep(zk.runtime, turn, { signal: held.signal })
    held.throwIfLost()
    // This is reported before the release, because after it the next contender may report first.
    send({ type: 'finished', at: now(), token })
    return true
  } catch (error) {
    const cause = held.signal.reason ?? error
    send({ type: 'lost', at: now(), token, why: LostError.is(cause) ? cause.code : String(cause) })
    return false
  } finally {
    await held.release()
  }
}
