// A holder's process stands still: for a part of its session timeout T or longer, in its own code, stopped from outside,
// collecting garbage, short of CPU; or its clock on the wall is set.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { beforeAll, describe, expect, test } from 'vitest'
import { outOfOrder, overlaps } from '../src/history/index.ts'
import type { Place } from '../src/stalls/stall.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { describeSamples, type Sample } from './support/stall-sample.ts'
import { type Plan, stallAll } from './support/stalling.ts'

const TIMEOUTS = [2_000, 6_000] as const
const HOUR = 3_600_000
const GRANT = 'between grant and first use'
const PLACES: readonly Place[] = ['a timer', 'an I/O callback', 'a promise chain', GRANT]
/** Parts of T; the stalls of a row happen in one process. */
const LENGTHS: Readonly<Record<(typeof TIMEOUTS)[number], readonly (readonly number[])[]>> = {
  2_000: [[2, 1, 1 / 2, 1 / 3, 1 / 6]],
  6_000: [[2], [1, 1 / 2], [1 / 3, 1 / 6]],
}
/** From the end of a stall to the signal, in ms. */
const AT_ONCE = 50

const plans = TIMEOUTS.flatMap((sessionTimeout): Plan[] => {
  const ofLengths = [...PLACES, 'anywhere' as const].flatMap((where) =>
    LENGTHS[sessionTimeout].map((parts) => parts.map((part) => ({ where, length: part * sessionTimeout }))),
  )
  const others: Plan['stalls'] = [
    { where: 'a loop that allocates', bytes: 2 ** 30 },
    { where: 'no place', wallStep: HOUR },
    { where: 'no place', wallStep: -HOUR },
  ]
  return [...ofLengths, others].map((stalls) => ({ sessionTimeout, stalls }))
})

describeEnsemble('Held of a process that stands still', (ensemble) => {
  let samples: readonly Sample[] = []
  let stalled: readonly Sample[] = []
  beforeAll(async () => {
    samples = await stallAll(ensemble, plans)
    stalled = samples.filter(({ stall }) => stall.where !== 'no place')
    console.info(`Held over ${samples.length} stalls\n${describeSamples(samples)}`)
  })

  test('Held has ended before another is granted, wherever its process stands still (L33)', () => {
    expectOneHolder(samples)
    expectLeasesOver(stalled)
  })

  test('Held.isHeld is false at the first call after T or 2 T, and the signal aborts (L33)', () => {
    const long = stalled.filter(({ part }) => part >= 1)
    expect(long.filter(({ asked, span }) => asked.until > span.to).map(String)).toEqual([])
    expect(long.filter(({ signaled }) => signaled.notified === undefined).map(String)).toEqual([])
  })

  test('Held.signal aborts within 50 ms of the end of the stall, without a call of isHeld (L33)', () => {
    expectToldInTime(stalled)
  })

  test('Held outlives a stall of a third of T that begins right after a confirmation', () => {
    const short = stalled.filter(({ part, stall }) => part > 0 && part <= 1 / 3 && stall.where !== GRANT)
    // Unless a slow machine has left it too little time for another round.
    const lost = short.filter((sample) => !sample.isKept && sample.left > sample.sessionTimeout / 8)
    expect(lost.map(String)).toEqual([])
  })

  test('Held is not lost by a stall of a sixth of T between its grant and its first use', () => {
    const short = stalled.filter(({ part, stall }) => part === 1 / 6 && stall.where === GRANT)
    // Its lease is T/4 from its request on. On a slow machine that ends before the stall does.
    const lost = short.filter(({ asked, span, left }) => asked.until < span.to && left > 0)
    expect(lost.map(String)).toEqual([])
  })

  test('Held is not lost before its lease is over', () => {
    const early = stalled.filter(
      ({ signaled: { notified, leaseEnd } }) => notified !== undefined && notified.at < leaseEnd,
    )
    expect(early.map(String)).toEqual([])
  })

  describe('or whose clock on the wall is set', () => {
    const setBy = (step: number) => samples.filter(({ stall }) => 'wallStep' in stall && stall.wallStep === step)

    test('Held ends with an hour that passed while the machine slept', () => {
      const asleep = setBy(HOUR)
      expect(asleep.filter(({ asked, span }) => asked.until > span.to).map(String)).toEqual([])
      // Only the timer of the next round wakes it.
      const late = asleep.filter(({ lateness = Infinity, sessionTimeout }) => lateness > sessionTimeout / 3 + AT_ONCE)
      expect(late.map(String)).toEqual([])
    })

    test('Held is kept over a clock that is set back by an hour', () => {
      // With a short T it may be lost on an overloaded machine.
      const [, long] = TIMEOUTS
      const samples = setBy(-HOUR).filter(({ sessionTimeout }) => sessionTimeout === long)
      expect(samples.map(({ isKept }) => isKept)).toEqual([true])
    })
  })
})

describeEnsemble('Held on a machine with eight busy processes', (ensemble) => {
  test('Held has ended before another is granted, and its signal aborts in time (L33)', async () => {
    const busy = Array.from({ length: 8 }, () =>
      // They end by themselves if their parent is killed.
      spawn(process.execPath, ['-e', 'for (const end = Date.now() + 60_000; Date.now() < end;);'], { stdio: 'ignore' }),
    )
    try {
      await Promise.all(busy.map((each) => once(each, 'spawn')))
      const samples = await stallAll(ensemble, [
        { sessionTimeout: 2_000, stalls: [2, 1 / 2].map((part) => ({ where: 'a timer', length: part * 2_000 })) },
        { sessionTimeout: 2_000, stalls: [1, 1 / 6].map((part) => ({ where: 'anywhere', length: part * 2_000 })) },
        { sessionTimeout: 6_000, stalls: [{ where: 'a promise chain', length: 6_000 }] },
        { sessionTimeout: 6_000, stalls: [{ where: 'no place', wallStep: 0 }] },
      ])
      console.info(`Held among eight busy processes\n${describeSamples(samples)}`)
      expectOneHolder(samples)
      expectLeasesOver(samples)
      expectToldInTime(samples)
    } finally {
      for (const each of busy) each.kill('SIGKILL')
    }
  })
})

function expectOneHolder(samples: readonly Sample[]): void {
  for (const sample of samples) {
    for (const { turns } of [sample.asked, sample.signaled]) {
      expect(overlaps(turns), String(sample)).toEqual([])
      expect(outOfOrder(turns), String(sample)).toEqual([])
    }
  }
}

/** Also by the lease's own end: the servers waited longer. */
function expectLeasesOver(samples: readonly Sample[]): void {
  expect(samples.filter(({ leaseMargin }) => leaseMargin <= 0).map(String)).toEqual([])
}

function expectToldInTime(samples: readonly Sample[]): void {
  expect(samples.filter(({ lateness = 0 }) => lateness > AT_ONCE).map(String)).toEqual([])
}
