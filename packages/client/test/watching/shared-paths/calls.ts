// What the user asks of the client, and what came of it: of each call, and of each watch.
import {
  type CallOptions,
  KeeperError,
  type NodeEvent,
  type PersistentWatchEvent,
  type WatchIterator,
  type Stat,
  type Watched,
  type ZooKeeper,
} from '../../../src/index.ts'
import type { RemovableWatches } from '../../../src/operations/remove-watches.ts'
import { type Outcome, outcome } from '../../support/index.ts'

export type Reading = 'data' | 'exist' | 'child'

export interface OneShot {
  readonly id: number
  readonly reading: Reading
  readonly path: string
  /** Which change the read has seen: the mzxid, or of children the pzxid. Undefined where there was no node. */
  readonly seen: bigint | undefined
  readonly watched: Watched
  isNotified: boolean
  /** What it received. */
  event?: string
}

/** A loop over a persistent watch. */
export interface Loop {
  readonly id: number
  readonly path: string
  readonly isRecursive: boolean
  /** The last change when it began. */
  readonly since: bigint
  readonly events: WatchIterator<PersistentWatchEvent>
  readonly notified: NodeEvent[]
  /** The last change at the time of each Gap. */
  readonly gaps: bigint[]
  /** No notification is expected any more. */
  isOver: boolean
  /** What it was ended with. */
  error?: unknown
}

type Read = (zk: ZooKeeper, path: string, waiting: CallOptions) => Promise<{ stat: Stat | undefined } & Watched>

const reads: Record<Reading, Read> = {
  data: (zk, path, waiting) => zk.getDataAndWatch(path, waiting),
  exist: (zk, path, waiting) => zk.existsAndWatch(path, waiting),
  child: (zk, path, waiting) => zk.getChildrenAndWatch(path, waiting),
}

export class Calls {
  readonly oneShots: OneShot[] = []
  readonly loops: Loop[] = []
  readonly #zk: ZooKeeper
  readonly #zxid: () => bigint
  readonly #say: (line: string) => void
  readonly #all: { readonly what: string; readonly outcome: Outcome<unknown> }[] = []

  /** `zxid` gives that of the last change. */
  constructor(zk: ZooKeeper, zxid: () => bigint, say: (line: string) => void) {
    this.#zk = zk
    this.#zxid = zxid
    this.#say = say
  }

  /** What is not settled. */
  get pending(): string[] {
    return this.#all.filter(({ outcome }) => outcome.status === 'pending').map(({ what }) => what)
  }

  readAndWatch(reading: Reading, path: string, waiting: CallOptions): void {
    this.#ask(`${reading} and watch ${path}`, reads[reading](this.#zk, path, waiting), (id, watched) => {
      const { stat, changed } = watched
      const seen = reading === 'child' ? stat?.pzxid : stat?.mzxid
      const oneShot: OneShot = { id, reading, path, seen, watched, isNotified: false }
      this.oneShots.push(oneShot)
      void changed.then(({ type }) => {
        oneShot.isNotified = true
        oneShot.event = type
        this.#say(`  client: ${id} gets ${type}`)
      })
      return `has seen ${seen}`
    })
  }

  watch(path: string, isRecursive: boolean, waiting: CallOptions): void {
    const watching = this.#zk.watch(path, { recursive: isRecursive, ...waiting })
    this.#ask(`watch ${path}${isRecursive ? ' recursive' : ''}`, watching, (id, events) => {
      const since = this.#zxid()
      const loop: Loop = { id, path, isRecursive, since, events, notified: [], gaps: [], isOver: false }
      this.loops.push(loop)
      void this.#follow(loop)
      return `watches since ${since}`
    })
  }

  getData(path: string, waiting: CallOptions): void {
    this.#ask(`getData ${path}`, this.#zk.getData(path, waiting))
  }

  removeWatches(path: string, type: RemovableWatches, waiting: CallOptions): void {
    this.#ask(`removeWatches ${path} ${type}`, this.#zk.removeWatches(path, type, waiting))
  }

  unwatch({ id, watched }: OneShot): void {
    this.#ask(`unwatch ${id}`, watched.unwatch())
  }

  leave(loop: Loop): void {
    loop.isOver = true
    this.#ask(`leave ${loop.id}`, loop.events.return())
  }

  #ask<T>(what: string, call: Promise<T>, fulfilled: (id: number, value: T) => string = () => 'done'): void {
    const id = this.#all.length + 1
    this.#say(`call ${id}: ${what}`)
    this.#all.push({ what: `${id}: ${what}`, outcome: outcome(call) })
    call.then(
      (value) => this.#say(`  client: ${id} ${fulfilled(id, value)}`),
      (error: unknown) => this.#say(`  client: ${id} failed ${KeeperError.is(error) ? error.code : String(error)}`),
    )
  }

  async #follow(loop: Loop): Promise<void> {
    const { id, events, notified, gaps } = loop
    try {
      for await (const event of events) {
        this.#say(`  client: ${id} gets ${event.type} ${event.path} ${'zxid' in event ? `@${event.zxid}` : ''}`)
        if (event.type === 'Gap') gaps.push(this.#zxid())
        else if (isOfNode(event)) notified.push(event)
      }
    } catch (error) {
      loop.error = error
    }
    loop.isOver = true
  }
}

function isOfNode(event: { readonly type: string }): event is NodeEvent {
  return event.type.startsWith('Node')
}
