// A worker waits at a barrier, or closes and opens it. It opens it in the end.
import { Barrier } from '@zk/recipes'
import { checksOfCalls } from '../checks/lists.ts'
import { nothingLeft } from '../checks/orphans.ts'
import { PATH } from '../play/paths.ts'
import { callsInTime, nothingLeftBesideWaits, openedOnce, passedWhileOpen } from './barrier-checks.ts'
import { ofSteps, type Pausing } from './steps/index.ts'
import { drawEnding, endingOfWait, pass } from './steps/pass.ts'
import type { Ending } from './steps/settled.ts'

/** One call of a `Barrier`. */
export interface BarrierStep extends Pausing, Ending {
  readonly barrier: 'set' | 'remove' | 'wait'
}

export const barrier = ofSteps<BarrierStep>([PATH], {
  draws: (random, sessionTimeout) => () => {
    const after = () => random.below(random.one([1, 50, 500, 2_000]))
    const waits = (): BarrierStep => ({ after: after(), barrier: 'wait', ...drawEnding(random, sessionTimeout) })
    if (random.chance(0.5)) return Array.from({ length: random.between(1, 4) }, waits)
    return Array.from({ length: random.between(1, 3) }, (): BarrierStep[] => [
      { after: after(), barrier: 'set' },
      { after: after(), barrier: 'remove', timeout: 3 * sessionTimeout },
    ]).flat()
  },
  time: (_, sessionTimeout) => 3 * sessionTimeout,
  does:
    (zk, site) =>
    async ({ barrier: what, timeout, abortAfter }) => {
      const barrier = new Barrier(zk, PATH)
      const ending = { ...(timeout !== undefined && { timeout }), ...(abortAfter !== undefined && { abortAfter }) }
      // Only a wait is for ever.
      const limit = what === 'wait' ? endingOfWait(zk, ending) : { ...ending, timeout: timeout ?? zk.session.timeout }
      await pass(site, { what }, limit, async (signal) => {
        await barrier[what]({ timeout, signal })
        return ''
      })
    },
  checks: [
    ...checksOfCalls.filter((each) => each !== nothingLeft),
    nothingLeftBesideWaits,
    passedWhileOpen,
    openedOnce,
    callsInTime('B3'),
  ],
})
