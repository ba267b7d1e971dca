// Code of packages/recipes/README.md.
import type { Held, LeaderElection, Lock } from '@zk/recipes'

export { lead, writeInParts }

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
/** Does `work` whenever this process leads, until `stopping` aborts. */
async function lead(election: LeaderElection, work: (held: Held) => Promise<void>, stopping: AbortSignal) {
  for await (const held of election.terms({ signal: stopping })) {
    await work(held) // ends when held.signal aborts; the end of the body resigns
  }
}
// #endregion
