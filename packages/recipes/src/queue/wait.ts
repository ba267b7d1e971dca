// One wait of a caller, over as many contenders as it takes: what is reported of it, and how it ends.
import type { QueuePlace } from '../acquirable.ts'
import type { Contender } from './contender.ts'
import { report } from '../diagnostics.ts'
import { LockTimeoutError } from '../errors.ts'
import type { Held } from '../held.ts'
import type { ContenderName, Kind } from './names.ts'
import type { Queue } from './queue.ts'

export class Wait {
  readonly #queue: Queue
  readonly #kind: Kind
  readonly #onQueued: ((place: QueuePlace) => void) | undefined
  readonly #since: number
  /** The last that had to wait. */
  #contender: Contender | undefined

  constructor(queue: Queue, kind: Kind, onQueued: ((place: QueuePlace) => void) | undefined) {
    this.#queue = queue
    this.#kind = kind
    this.#onQueued = onQueued
    this.#since = queue.zk.runtime.now()
  }

  queued(contender: Contender, names: readonly ContenderName[]): void {
    this.#contender = contender
    const place = () => ({ position: names.length, ahead: this.#paths(names) })
    report('zk:queued', () => ({ path: this.#queue.path, kind: this.#kind.name, ...place() }))
    this.#onQueued?.(place())
  }

  ended<H extends Held>(held: H): H {
    held.acquired(this.#queue.zk.runtime.now() - this.#since)
    return held
  }

  tooLong(timeout: number): LockTimeoutError {
    const { path } = this.#queue
    const { ahead: names, blocker, session } = this.#contender ?? {}
    const ahead = names && this.#paths(names)
    if (blocker === undefined) return new LockTimeoutError(path, timeout, ahead)
    const { path: node, label, sessionId, since } = blocker
    const isOwn = sessionId === session?.id
    return new LockTimeoutError(path, timeout, ahead, { path: node, label, sessionId, since, isOwn })
  }

  #paths(names: readonly ContenderName[]): string[] {
    return names.map(({ name }) => this.#queue.pathOf(name))
  }
}
