// The wait of one contender with `detectDeadlocks`. It also ends when the contender stands in a cycle.
import type { Session, ZooKeeper } from '@zk/client'
import { NodeVanished } from '../calls/node-vanished.ts'
import type { Detection } from '../hold-options.ts'
import type { OwnNodes } from '../queue/own-node.ts'
import { OwnNodesWatch } from '../queue/own-nodes-watch.ts'
import { Task, type TaskWait } from './task.ts'

export class DetectedWait {
  readonly #zk: ZooKeeper
  readonly #session: Session
  readonly #path: string
  readonly #detection: Detection
  readonly #failure: Promise<never>
  readonly #failed: (error: unknown) => void
  #wait: TaskWait | undefined
  #ownWatch: OwnNodesWatch | undefined
  #isOver = false

  /** `path` is of the recipe, for the error. */
  constructor(zk: ZooKeeper, session: Session, path: string, detection: Detection) {
    this.#zk = zk
    this.#session = session
    this.#path = path
    this.#detection = detection
    let failed: (error: unknown) => void
    this.#failure = new Promise<never>((_, reject) => (failed = reject))
    this.#failed = failed!
  }

  /** Like `competing`, but also rejects if a deadlock is found, if the search for one fails, or if a node is gone. */
  async during<T>(competing: Promise<T>): Promise<T> {
    try {
      return await Promise.race([competing, this.#failure])
    } finally {
      this.end()
    }
  }

  /** The contender must wait. May be called again. */
  begin(nodes: OwnNodes): void {
    if (this.#wait !== undefined || this.#isOver) return
    this.#wait = {
      zk: this.#zk,
      path: this.#path,
      nodes,
      label: this.#detection.label,
      watchOwn: () => this.#watchOwn(nodes),
      failed: this.#failed,
    }
    this.#task.begins(this.#wait)
  }

  end(): void {
    this.#isOver = true
    if (this.#wait !== undefined) this.#task.ended(this.#wait)
    this.#ownWatch?.stop()
  }

  get #task(): Task {
    return Task.of(this.#session, this.#detection)
  }

  #watchOwn(nodes: OwnNodes): void {
    if (this.#isOver) return
    const paths = nodes.map(({ path }) => path)
    this.#ownWatch ??= new OwnNodesWatch(this.#zk, this.#session, paths, () => this.#failed(new NodeVanished()))
  }
}
