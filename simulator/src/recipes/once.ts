// Clients call `once` for one job, in all histories by slots or in all by the clock. Bodies take a while, and some fail.
import { once } from '@zk/recipes'
import { checksOfCalls } from '../checks/lists.ts'
import { everyWorkerEnds } from '../checks/waiting.ts'
import { PATH } from '../play/paths.ts'
import {
  bodiesBeforeRecords,
  oneRecordInEach,
  onceInTime,
  type Period,
  recordsAreProven,
  resultsAreRecorded,
} from './once-checks.ts'
import { ofSteps, type Pausing } from './steps/index.ts'
import { drawEnding } from './steps/pass.ts'
import { type Ending, pause, settled } from './steps/settled.ts'

/** One call of `once`. Times are in ms. */
export interface OnceStep extends Pausing, Ending {
  readonly period: Period
  /** How long the body takes. */
  readonly takes: number
  readonly fails?: true
}

/** The longest time that a call takes for servers, in session timeouts: to read, to acquire, to record, to release, to find out. */
const WAITS_FOR_SERVERS = 8

export const onceCalls = ofSteps<OnceStep>([PATH], {
  draws(random, sessionTimeout) {
    const every = random.one([undefined, undefined, 100, 1_000, 5_000])
    const step = (): OnceStep => ({
      after: random.below(random.one([1, 50, 500, 2_000])),
      period: every === undefined ? { slot: random.one(['a', 'b', 'c']) } : { every },
      takes: random.below(random.one([1, 1, 50, 500, 2 * sessionTimeout])),
      ...(random.chance(0.15) && { fails: true as const }),
      ...drawEnding(random, sessionTimeout),
    })
    return () => Array.from({ length: random.between(1, 4) }, step)
  },
  time: ({ timeout = 0, takes }, sessionTimeout) => timeout + takes + WAITS_FOR_SERVERS * sessionTimeout,
  does(zk, { client, runtime, recorder }) {
    return async ({ period, takes, fails, timeout = 0, abortAfter }) => {
      const call = recorder.newAttempt()
      // It is in the node of the call, and in its record.
      const label = String(call)
      const within = timeout + takes + WAITS_FOR_SERVERS * zk.session.timeout
      recorder.add({ type: 'passing', call, client, what: 'once', about: label, within })
      const outcome = await settled(runtime, abortAfter, async (signal) => {
        const result = await once(zk, PATH, { ...period, label, timeout, signal }, async ({ path }, { slot }) => {
          const about = JSON.stringify({ path, slot, label })
          recorder.add({ type: 'passing', call: recorder.newAttempt(), client, what: 'body', about, within: Infinity })
          await pause(runtime, takes)
          if (fails) throw new Error('of the body')
        })
        if (!result.ran && result.why === 'running') return 'running'
        return `${result.ran ? 'ran' : 'done'} ${result.run.fencingToken}`
      })
      recorder.add({ type: 'passed', call, outcome })
    }
  },
  checks: [
    ...checksOfCalls,
    everyWorkerEnds,
    oneRecordInEach,
    recordsAreProven,
    resultsAreRecorded,
    bodiesBeforeRecords,
    onceInTime,
  ],
})
