// The cost of one release for a number of waiters: notifications in the decoded history of the servers, and bytes sent.
import { systemRuntime, type Runtime } from '@zk/client'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, Lock, type ZooKeeper } from '@zk/recipes'
import { TestEnsemble } from '@zk/testing'
import { acquireWatchingParent } from './parent-watching-lock.ts'
import { acquireSingleNode, type Release } from './single-node-lock.ts'

export interface Cost {
  readonly waiters: number
  readonly notifications: number
  /** From servers to clients: events, and replies to requests that the events caused. */
  readonly bytes: number
}

/** Contends for a lock. Calls `waiting` whenever it waits, and awaits `entered` when it has its place in the queue. */
type Contend = (zk: ZooKeeper, waiting: () => void, entered: () => Promise<void>) => Promise<Release>

const PATH = '/locks/report'

export const locks = {
  'all watch one node': (zk, waiting) => acquireSingleNode(zk, PATH, waiting),
  'all watch the list': (zk, waiting, entered) => acquireWatchingParent(zk, PATH, waiting, entered),
  '@zk/recipes': async (zk, waiting) => {
    const held = await new Lock(zk, PATH).acquire({ onQueued: waiting })
    return () => held.release()
  },
} as const satisfies Record<string, Contend>

export type LockName = keyof typeof locks

/** The cost of the first release while this many others wait, each with its own client. */
export async function costOfRelease(name: LockName, waiters: number): Promise<Cost> {
  const contend: Contend = locks[name]
  const ensemble = await TestEnsemble.start({ history: { entries: 100_000 } })
  const wire = new Wire()
  // With this timeout pings are rare.
  const options = { sessionTimeout: 40_000, renewSession: false, runtime: wire.runtime }
  const clients: ZooKeeper[] = []
  try {
    for (let count = 0; count <= waiters; count++) {
      clients.push(await connect(ensemble.connectString, options))
    }
    ensemble.nodes.create('/locks')
    if (name !== 'all watch one node') ensemble.nodes.create(PATH)
    const waits = new Count()
    const entries = new Count()
    // A contender that reads the list before all others are in the queue would be woken by each later one.
    const entered = async (): Promise<void> => {
      entries.add()
      await entries.reaches(clients.length)
    }
    const [holding, ...others] = clients.map((zk) => contend(zk, () => waits.add(), entered))
    // In the end most of these still wait, and reject when their sessions expire.
    for (const each of others) each.catch(() => {})
    const release = await holding!
    await waits.reaches(waiters)
    await wire.quiet()

    ensemble.history.clear()
    const before = wire.received
    await release()
    await Promise.race(others)
    // Until all contenders that were woken wait again. (With our lock, none of these is woken.)
    if (name !== '@zk/recipes') await waits.reaches(2 * waiters - 1)
    return { waiters, notifications: ensemble.history.events().length, bytes: wire.received - before }
  } finally {
    // All sessions end at once. If they ended one by one, each would wake the others.
    for (const { session } of clients) ensemble.sessions.expire(session.id)
    await Promise.all(clients.map((zk) => zk.close()))
    await ensemble.close()
  }
}

class Count {
  #count = 0
  #awaited = Infinity
  #reached = () => {}

  add(): void {
    this.#count++
    if (this.#count >= this.#awaited) this.#reached()
  }

  async reaches(count: number): Promise<void> {
    if (this.#count >= count) return
    this.#awaited = count
    const before = this.#reached
    await new Promise<void>((resolve) => {
      this.#reached = () => {
        before()
        resolve()
      }
    })
  }
}

/** The runtime of this machine, which also counts received bytes. */
class Wire {
  received = 0
  readonly runtime: Runtime = {
    ...systemRuntime,
    dial: (target, handler) =>
      systemRuntime.dial(target, {
        opened: () => handler.opened(),
        drained: () => handler.drained(),
        lost: (error) => handler.lost(error),
        received: (bytes) => {
          this.received += bytes.length
          handler.received(bytes)
        },
      }),
  }

  /** Waits until no bytes have come for a while. */
  async quiet(): Promise<void> {
    for (let before = -1; before !== this.received;) {
      before = this.received
      await sleep(100)
    }
  }
}
