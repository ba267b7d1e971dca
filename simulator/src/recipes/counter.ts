// Every change of a counter adds a power of 4 of its own. So the committed values show which changes have happened, and how often.
import { Counter } from '@zk/recipes'
import { checksOfCalls } from '../checks/lists.ts'
import { everyWorkerEnds } from '../checks/waiting.ts'
import type { Count } from '../history/steps.ts'
import { PATH } from '../play/paths.ts'
import { changesOnce, countedInTime, everyWriteAdds, readsNeverGoBack } from './counter-checks.ts'
import { ofSteps, type Pausing } from './steps/index.ts'
import { settled } from './steps/settled.ts'

/** Calls of one turn. */
export interface CounterStep extends Pausing {
  readonly counts: readonly Count[]
}

/** The changes of a history: 4 to the power of the next one may be above the highest value of a counter. */
const MOST_CHANGES = 31

export const counter = ofSteps<CounterStep>([PATH], {
  draws(random, sessionTimeout) {
    let changes = 0
    const count = (): Count => {
      const drawn = random.one(['add', 'add', 'update', 'get'] as const)
      const how = changes < MOST_CHANGES ? drawn : 'get'
      const number = how === 'get' ? 0 : changes++
      return {
        number,
        how,
        ...(random.chance(0.3) && { timeout: random.below(random.one([20, 300, 3 * sessionTimeout])) }),
        ...(random.chance(0.15) && { abortAfter: random.below(random.one([10, 200, 3_000])) }),
      }
    }
    const step = (): CounterStep => {
      const after = random.below(random.one([1, 50, 500, 2_000]))
      return { after, counts: Array.from({ length: random.one([1, 1, 1, 2, 3]) }, count) }
    }
    return () => Array.from({ length: random.between(1, 5) }, step)
  },
  time: (_, sessionTimeout) => 3 * sessionTimeout,
  does(zk, { client, runtime, recorder }) {
    // The first two workers share a counter, the third has its own.
    const counters = [new Counter(zk, PATH), new Counter(zk, PATH)] as const
    const one = async (counter: Counter, count: Count) => {
      const call = recorder.newAttempt()
      const { timeout = zk.session.timeout, abortAfter } = count
      const within = Math.min(timeout, abortAfter ?? Infinity)
      recorder.add({ type: 'counting', call, client, count, session: zk.session.id, within })
      const outcome = await settled(runtime, abortAfter, (signal) => make(counter, count, signal))
      recorder.add({ type: 'counted', call, session: zk.session.id, outcome })
    }
    return async ({ counts }, worker) => {
      await Promise.all(counts.map((count) => one(counters[worker < 2 ? 0 : 1], count)))
    }
  },
  checks: [...checksOfCalls, everyWorkerEnds, everyWriteAdds, changesOnce, readsNeverGoBack, countedInTime],
})

function make(counter: Counter, { how, number, timeout }: Count, signal: AbortSignal): Promise<bigint> {
  const options = { timeout, signal }
  const digit = 4n ** BigInt(number)
  switch (how) {
    case 'add':
      return counter.add(digit, options)
    case 'update':
      return counter.update((value) => value + digit, options)
    case 'get':
      return counter.get(options)
  }
}
