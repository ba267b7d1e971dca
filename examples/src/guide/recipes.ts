// Code of packages/recipes/README.md.
import type { Counter, DoubleBarrier, Held, LeaderElection, Lock } from '@zk/recipes'

export { importTogether, lead, takeTicket, writeInParts }

// #region acquire
async function writeInParts(lock: Lock, writePart: (held: Held) => Promise<'more' | 'done'>): Promise<void> {
  const held = await lock.acquire({ timeout: 5_000 })
  try {
    while ((await writePart(held)) === 'more') held.throwIfLost()
  } finally {
    await held.release()
  }
}
// #endregion

// #region terms
/** Does `work` whenever this process leads, until `stopping` aborts or the work fails. */
async function lead(election: LeaderElection, work: (held: Held) => Promise<void>, stopping: AbortSignal) {
  for await (const held of election.terms({ signal: stopping })) {
    try {
      await work(held) // ends, or rejects, when held.signal aborts
    } catch (error) {
      if (held.isHeld()) throw error // the work failed: the loop resigns, and throws
      console.warn('the term was lost', error)
    }
  } // the end of the body resigns, and the process stands again
}
// #endregion

// #region counter
/** Takes one of the tickets that are left. Resolves with its number. */
async function takeTicket(tickets: Counter): Promise<bigint> {
  const left = await tickets.update((left) => {
    if (left === 0n) throw new Error('sold out')
    return left - 1n
  })
  return left + 1n
}
// #endregion

// #region double-barrier
/** Imports one part. All importers begin when all are there, and go on when all are done. */
async function importTogether(barrier: DoubleBarrier, importPart: (signal: AbortSignal) => Promise<void>) {
  const entry = await barrier.enter({ timeout: 60_000 })
  try {
    await importPart(entry.signal)
  } finally {
    await entry.leave({ timeout: 60_000 })
  }
}
// #endregion
