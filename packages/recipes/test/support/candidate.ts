import { LeaderElection, type Held, type ZooKeeper } from '../../src/index.ts'
import { outcome, type Outcome } from './outside.ts'
import type { Scene } from './scene.ts'

/** A candidate that stands again and again; each term lasts until it is ordered to end, or is lost. */
export class Candidate {
  readonly zk: ZooKeeper
  readonly election: LeaderElection
  readonly stopping = new AbortController()
  readonly terms: Held[] = []
  /** What it received, in order. */
  readonly notified: string[] = []
  readonly standing: Outcome<void>
  #endTerm = () => {}

  constructor(zk: ZooKeeper, path: string, data = '') {
    this.zk = zk
    this.election = new LeaderElection(zk, path, { label: data })
    this.standing = outcome(this.#stand())
  }

  get isLeader(): boolean {
    return this.terms.at(-1)?.isHeld() ?? false
  }

  endTerm(): void {
    this.#endTerm()
  }

  async #stand(): Promise<void> {
    const listeners = {
      signal: this.stopping.signal,
      onSuspended: () => void this.notified.push('suspended'),
      onResumed: () => void this.notified.push('resumed'),
    }
    for await (const leadership of this.election.terms(listeners)) {
      this.notified.push('leads')
      this.terms.push(leadership)
      await new Promise<void>((resolve) => {
        this.#endTerm = resolve
        leadership.signal.addEventListener(
          'abort',
          () => {
            this.notified.push(leadership.signal.reason.code as string)
            resolve()
          },
          { once: true },
        )
      })
    }
  }
}

export async function candidates(scene: Scene, path: string, count: number): Promise<Candidate[]> {
  const all: Candidate[] = []
  for (const zk of await scene.clients(count)) {
    all.push(new Candidate(zk, path, `host-${all.length}`))
    await scene.world.settle()
  }
  return all
}

/** Who leads, by place. */
export function leaders(all: readonly Candidate[]): number[] {
  return all.flatMap(({ isLeader }, index) => (isLeader ? [index] : []))
}
