import { setTimeout as sleep } from 'node:timers/promises'
import { Barrier, WaitTimeoutError, KeeperError } from '@zk/recipes'
import type { Note } from '../../history/index.ts'
import { childrenOf } from '../insist.ts'
import { type Recipe, sinceOf, type Stage } from '../recipe.ts'

interface Step extends Note {
  readonly what: 'set' | 'removing' | 'waiting' | 'passed' | 'late'
  /** The name of the barrier's node. */
  readonly barrier: string
}

/** A time in which a barrier was closed throughout. */
interface Closed {
  readonly barrier: string
  readonly from: number
  readonly to: number
}

/** Each process closes and opens a barrier of its own, and waits at those of all. So each barrier has one writer. */
export const barrier: Recipe<Step> = {
  name: 'barrier',
  weakAfter: 'set',
  keeps: [''],
  contenders(stage, log) {
    const { zk, path, process: own, turn } = stage
    const at = (name: string) => new Barrier(zk, `${path}/${name}`)
    const remove = async (contender: string, name: string) => {
      // After a lost answer it cannot be closed again before it is known to be open.
      for (let isOpen = false; !isOpen;) {
        log({ contender, what: 'removing', barrier: name })
        isOpen = await at(name)
          .remove()
          .then(() => true, unlessKeeperError)
      }
    }
    const keepGate = async (contender: string) => {
      for (const name of await ofDead(stage)) await remove(contender, name)
      const isSet = await at(own)
        .set()
        .then(() => true, unlessKeeperError)
      if (isSet) log({ contender, what: 'set', barrier: own })
      await sleep(Math.random() * 2 * turn)
      await remove(contender, own)
      await sleep((Math.random() * turn) / 4)
    }
    const wait = async (contender: string) => {
      const closed = await childrenOf(zk, path)
      const barrier = closed[Math.floor(Math.random() * closed.length)]
      if (barrier === undefined) return await sleep(20)
      const timeout = Math.random() < 0.1 ? Math.random() * turn : Infinity
      log({ contender, what: 'waiting', barrier })
      try {
        await at(barrier).wait({ timeout })
        log({ contender, what: 'passed', barrier })
      } catch (error) {
        if (!WaitTimeoutError.is(error)) throw error
        log({ contender, what: 'late', barrier })
      }
    }
    return { keeper: keepGate, waiter: wait }
  },
  judge(notes) {
    const closed = closedTimes(notes)
    const since = sinceOf(notes, 'waiting')
    const passes = notes.filter(({ what }) => what === 'passed')
    const waits = passes.map((pass) => pass.at - since.get(pass)!)
    const tooEarly = passes.filter((pass) =>
      closed.some(({ barrier, from, to }) => barrier === pass.barrier && from < since.get(pass)! && to > pass.at),
    )
    return {
      done: passes.length,
      unit: 'passes',
      counts: { closings: closed.length, timeouts: notes.filter(({ what }) => what === 'late').length },
      worst: { wait: waits.reduce((one, other) => Math.max(one, other), 0) },
      violations: tooEarly.map(
        (pass) =>
          `${pass.contender} passed ${pass.barrier}, closed throughout ${since.get(pass)!.toFixed(1)} to ${pass.at.toFixed(1)}`,
      ),
    }
  },
}

/** The barriers that dead processes of the same place have left closed. A late request may close one once more. */
async function ofDead({ zk, path, process, slot }: Stage): Promise<readonly string[]> {
  const names = await childrenOf(zk, path)
  return names.filter((name) => name.startsWith(`${slot}.`) && name !== process)
}

function closedTimes(notes: readonly Step[]): Closed[] {
  return notes.flatMap(({ what, barrier, at }, index) => {
    if (what !== 'set') return []
    const opened = notes.slice(index).find((note) => note.what === 'removing' && note.barrier === barrier)
    return [{ barrier, from: at, to: opened?.at ?? Infinity }]
  })
}

function unlessKeeperError(error: unknown): false {
  if (!KeeperError.is(error)) throw error
  return false
}
