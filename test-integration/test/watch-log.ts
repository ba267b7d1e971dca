import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect, onTestFinished } from 'vitest'
import type { Watched, ZooKeeper } from '@zk/client'

/** Events in the order in which they were told, as `NodeDeleted /path`. */
export class WatchLog {
  readonly #told: string[] = []

  note<W extends Watched>(watched: W): W {
    void watched.changed.then(({ type, path }) => this.#told.push(`${type} ${path}`))
    return watched
  }

  /** What was told since this was asked last, sorted: events of different paths have no order. */
  take(): string[] {
    return this.#told.splice(0).sort()
  }
}

/** When it resolves, the client has been told of every change that was committed when it was called. */
export async function caughtUp(zk: ZooKeeper): Promise<void> {
  // Only a connection that stands takes a write for certain.
  await zk.sync('/')
  // A leader answers a sync before it has applied what a follower may have told somebody (CommitProcessor.matchSyncs).
  await expect(zk.delete('/nobody')).rejects.toMatchObject({ code: 'NoNode' })
}

/** What the protocol does not foresee, from now to the end of the test: an event for nobody, for instance. */
export function noteOddities(): readonly unknown[] {
  const oddities: unknown[] = []
  const note = (oddity: unknown): void => void oddities.push(oddity)
  subscribe('zk:oddity', note)
  onTestFinished(() => void unsubscribe('zk:oddity', note))
  return oddities
}
