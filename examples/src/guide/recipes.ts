// Code of packages/recipes/README.md.
import type { Held, LeaderElection, Lock, Semaphore } from '@zk/recipes'

export { encodeShard, lead, writeInParts }

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

// #region semaphore
/** One of the semaphore's permits stands for one shard. Nobody else works on it meanwhile. */
async function encodeShard(semaphore: Semaphore, encode: (shard: number, held: Held) => Promise<void>): Promise<void> {
  await semaphore.run((held) => encode(held.permit, held))
}
// #endregion
