// A worker enters a double barrier, is inside for a while, and leaves.
import { type BarrierEntry, DoubleBarrier } from '@zk/recipes'
import { checksOfCalls } from '../checks/lists.ts'
import { everyWorkerEnds } from '../checks/waiting.ts'
import { PATH } from '../play/paths.ts'
import { callsInTime, departures, insideTogether, leftTogether, openings } from './barrier-checks.ts'
import { ofSteps, type Pausing } from './steps/index.ts'
import { drawEnding, endingOfWait, pass } from './steps/pass.ts'
import { type Ending, pause } from './steps/settled.ts'

export interface MemberStep extends Pausing {
  /** The same in all steps of a history. */
  readonly size: number
  readonly enter: Ending & { readonly timeout: number }
  readonly inside: number
  readonly leave: Ending
}

export const doubleBarrier = ofSteps<MemberStep>([PATH], {
  draws(random, sessionTimeout) {
    let size: number | undefined
    const step = (): MemberStep => {
      size ??= random.one([2, 2, 3])
      return {
        after: random.below(random.one([1, 50, 500])),
        size,
        enter: { timeout: 6 * sessionTimeout, ...drawEnding(random, sessionTimeout) },
        inside: random.below(random.one([1, 100, sessionTimeout])),
        leave: drawEnding(random, sessionTimeout),
      }
    }
    return () => Array.from({ length: random.between(1, 5) }, step)
  },
  time: ({ inside }, sessionTimeout) => inside + 8 * sessionTimeout,
  does:
    (zk, site) =>
    async ({ size, enter, inside, leave }) => {
      const barrier = new DoubleBarrier(zk, PATH, { size })
      let entry: BarrierEntry | undefined
      await pass(site, { what: 'enter' }, endingOfWait(zk, enter), async (signal) => {
        entry = await barrier.enter({ timeout: enter.timeout, signal })
        return entry.path
      })
      if (entry === undefined) return
      const { path } = entry
      await pause(site.runtime, inside)
      await pass(site, { what: 'leave', about: path }, endingOfWait(zk, leave), async (signal) => {
        await entry!.leave({ timeout: leave.timeout, signal })
        return path
      })
    },
  checks: [...checksOfCalls, everyWorkerEnds, insideTogether, openings, leftTogether, departures, callsInTime('D3')],
})
