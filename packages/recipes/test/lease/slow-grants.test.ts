// How long a free lock takes if every answer is late. docs/cost.md, "Slow answers", has a table of these times. `ZK_SLOW_GRANTS=1`
// prints it.
import { describe, expect, test } from 'vitest'
import { WaitTimeoutError } from '../../src/index.ts'
import { firstLease } from '../../src/lease/lease-renewal.ts'
import type { Grant } from '../../src/queue/grant-proof.ts'
import { Limit } from '../../src/kernel/limit.ts'
import { holdings, OTHER_PATH, PATH } from '../support/every-recipe.ts'
import { outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

const T = 12_000
const TIMEOUT = 5 * T

const recipes = Object.fromEntries(holdings.map(({ name, make }) => [name, make]))

/** Each answer comes `d` later; or the next one does not begin its way before the one before has arrived. (Pings pass.) */
type Lateness = 'each' | 'one after the other'

interface Slow {
  readonly late: Lateness
  readonly d: number
  /** How long the client was idle before. */
  readonly idle: number
  readonly exists?: boolean
  readonly timeout?: number
  readonly log?: (...line: unknown[]) => void
}

/** The time to the grant in ms, or the error. */
async function grant(
  recipe: string,
  { late, d, idle, exists = true, timeout = TIMEOUT, log = () => {} }: Slow,
): Promise<number | WaitTimeoutError> {
  const scene = new Scene()
  if (exists) for (const path of [PATH, OTHER_PATH]) scene.ensemble.nodes.create(path)
  const zk = await scene.client({ sessionTimeout: T, logger: log })
  await scene.world.advance(idle)
  if (late === 'each') scene.network.latency = () => d
  else if (d > 0) scene.ensemble.faults.delayReply({ ms: d, times: Infinity })
  const began = scene.world.now()
  const acquiring = outcome<unknown>(recipes[recipe]!(zk).acquire({ timeout }))
  await scene.world.settle()
  while (acquiring.status === 'pending') await scene.world.advance(T / 200)
  if (acquiring.status === 'fulfilled') return scene.world.now() - began
  if (WaitTimeoutError.is(acquiring.error)) return acquiring.error
  throw acquiring.error
}

/** So long was the client idle: at different times of its heartbeats. */
const phases = [2, 2.07, 2.14, 2.21, 2.28].map((part) => part * T)

async function times(recipe: string, late: Lateness, percent: number): Promise<number[]> {
  const all: number[] = []
  for (const idle of phases) {
    const granted = await grant(recipe, { late, d: (percent * T) / 100, idle })
    all.push(typeof granted === 'number' ? granted : Infinity)
  }
  return all.sort((one, other) => one - other)
}

/** The latest answers, in percent of T, with which a lease is possible. */
const POSSIBLE = { each: 17, 'one after the other': 25 } as const

/** Also beyond what is possible, for the table. */
const prints = process.env['ZK_SLOW_GRANTS'] !== undefined

describe.each(['each', 'one after the other'] as const)('with late answers, %s,', (late) => {
  test('Lock.acquire of a free lock is granted within 2 T, if a lease is possible', async () => {
    for (let percent = 0; percent <= (prints ? 33 : POSSIBLE[late]); percent++) {
      const all = await times('Lock', late, percent)
      const texts = [all.at(0)!, all[2]!, all.at(-1)!].map((time) => (time / T).toFixed(2))
      if (prints) console.log(`${late} ${percent} % of T: ${texts.join(' ')} T`)
      if (percent <= POSSIBLE[late]) expect(all.at(-1), `${percent} %`).toBeLessThan(2 * T)
    }
  })

  test.each(Object.keys(recipes))('%s is granted within 8 T', async (recipe) => {
    for (const percent of [5, 10, 14, 15, 16]) {
      const granted = await grant(recipe, {
        late,
        d: (percent * T) / 100,
        idle: phases[percent % 5]!,
        exists: percent < 15,
        timeout: 8 * T,
      })
      expect(granted, `${percent} %`).toBeLessThan(8 * T)
    }
  })
})

test('firstLease of a grant without a touch is proven by touches of its own, if a lease is possible', async () => {
  let again = 0
  for (let percent = 1; percent <= POSSIBLE.each; percent++) {
    for (const idle of phases) {
      const scene = new Scene()
      const path = '/locks/node'
      scene.ensemble.nodes.create(path)
      const zk = await scene.client({ sessionTimeout: T })
      await scene.world.advance(idle)
      scene.network.latency = () => (percent * T) / 100
      const grant = { nodes: [{ path, czxid: 1n }], touch: undefined } as unknown as Grant
      const onProving = (slowness?: unknown) => void (slowness !== undefined && again++)
      const options = { limit: new Limit(zk.runtime, {}), onProving }
      const proving = outcome(Promise.resolve(firstLease(zk, zk.session, grant, {}, options)))
      await scene.world.advance(3 * T)
      expect(proving.status, `${percent} %, idle for ${idle} ms`).toBe('fulfilled')
    }
  }
  expect(again).toBeGreaterThan(0)
})

test('Lock.acquire says how slow answers are for which no lease is possible, in its error and in the log', async () => {
  const lines: unknown[][] = []
  const slow = {
    late: 'each',
    d: 0.26 * T,
    idle: phases[0]!,
    log: (...line: unknown[]) => void lines.push(line),
  } as const
  expect(String(await grant('Lock', slow))).toBe(
    `WaitTimeoutError: ${PATH} was not granted within ${TIMEOUT} ms: it was first in line, but answers take 3.12 s each, and ` +
      'with a session timeout of 12 s a lease needs them within 2.07 s: ask for a longer session timeout, or find out why ' +
      'servers or network are slow',
  )
  const [warning] = lines.filter(([, text]) => String(text).includes('too slow'))
  expect(warning).toMatchObject([
    'warn',
    'zk: lock not granted: answers are too slow for a lease',
    { path: PATH, answers: 3_120, within: 2_070, sessionTimeout: T },
  ])
})

test('Lock.acquire that times out before its first proof has ended says so', async () => {
  const error = String(await grant('Lock', { late: 'each', d: 0.26 * T, idle: phases[0]!, timeout: T }))
  expect(error).toContain('it was first in line, but its lease was not proven in this time: answers are slow')
})

test('Lock.acquire says why connections are lost, if answers are too late for them', async () => {
  const error = String(await grant('Lock', { late: 'one after the other', d: 0.7 * T, idle: phases[0]! }))
  expect(error).toContain('nothing received for 2/3 of the session timeout (12 s)')
})
