import { setTimeout as sleep } from 'node:timers/promises'
import { KeeperError, LostError, WaitTimeoutError, once } from '@zk/recipes'
import type { Note } from '../../history/index.ts'
import { countsOf, type Recipe } from '../recipe.ts'

interface Step extends Note {
  readonly what: 'began' | 'ran' | 'done' | 'running' | 'unknown' | 'failed'
  /** The period of a body that began, or of a run that is recorded. */
  readonly slot?: string
  readonly token?: string
  readonly why?: string
}

/** The length of a period, in turns: most periods have a run, and most calls find one. */
const TURNS = 2

/** All processes call `once` for one job. */
export const onceRecipe: Recipe<Step> = {
  name: 'once',
  weakAfter: 'began',
  keeps: ['', '/done'],
  contenders({ zk, path, turn, process: label }, log) {
    const call = async (contender: string) => {
      const timeout = Math.random() < 0.3 ? Math.random() * 4 * turn : 0
      try {
        const called = await once(zk, path, { every: TURNS * turn, timeout, label }, async (_, { slot }) => {
          log({ contender, what: 'began', slot })
          await sleep(Math.random() * turn)
        })
        if (!called.ran && called.why === 'running') log({ contender, what: 'running' })
        else
          log({
            contender,
            what: called.ran ? 'ran' : 'done',
            slot: called.run.slot,
            token: String(called.run.fencingToken),
          })
      } catch (error) {
        if (!KeeperError.is(error) && !LostError.is(error) && !WaitTimeoutError.is(error)) throw error
        const isUnknown = KeeperError.is(error) && error.outcomeUnknown
        log({ contender, what: isUnknown ? 'unknown' : 'failed', why: error.name })
      }
      await sleep(Math.random() * turn)
    }
    return { one: call, other: call }
  },
  judge(notes) {
    const runs = notes.filter(({ what }) => what === 'ran')
    const others = notes.filter(({ what }) => what !== 'ran' && what !== 'began')
    return {
      done: runs.length,
      unit: 'runs',
      counts: countsOf(others.map(({ what, why }) => (why === undefined ? what : `${what}: ${why}`))),
      worst: {},
      violations: [...twice(runs), ...outOfOrder(runs), ...neverRun(notes)],
    }
  },
}

/** Two runs of one period are never both recorded. */
function twice(runs: readonly Step[]): string[] {
  const first = new Map<string, Step>()
  return runs.flatMap((run) => {
    const before = first.get(run.slot!)
    first.set(run.slot!, before ?? run)
    return before === undefined ? [] : [`${run.contender} and ${before.contender} both ran ${run.slot}`]
  })
}

/** Later periods have higher tokens. */
function outOfOrder(runs: readonly Step[]): string[] {
  const byToken = runs.toSorted((one, other) => (BigInt(one.token!) < BigInt(other.token!) ? -1 : 1))
  return byToken.flatMap((run, index) => {
    const before = byToken[index - 1]
    return before !== undefined && before.slot! > run.slot! ? [`${run.slot} was recorded after ${before.slot}`] : []
  })
}

/** What is done was run: by a call that says so, by one that does not know, or by one that died. */
function neverRun(notes: readonly Step[]): string[] {
  const began = new Set(notes.filter(({ what }) => what === 'began').map(({ slot }) => slot))
  const done = notes.filter(({ what, slot }) => what === 'done' && !began.has(slot))
  return done.map(({ contender, slot }) => `${contender} found ${slot} done, and no body began it`)
}
