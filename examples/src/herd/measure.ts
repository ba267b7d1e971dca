// What one release costs, by how many wait: notifications, as the servers' decoded history has them, and bytes that they send.
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, Lock, type Runtime, systemRuntime, type ZooKeeper } from '@zk/recipes'
import { TestEnsemble } from '@zk/testing'
import { acquireWatchingParent } from './parent-watching-lock.ts'
import { acquireSingleNode, type Release } from './single-node-lock.ts'

export interface Cost {
  readonly waiters: number
  readonly notifications: number
  /** From servers to clients: events, and what these made clients ask for. */
  readonly bytes: number
}

/** `waiting` is called whenever it waits; `entered` when it has its place, and awaited. */
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

/** The cost of the first release while so many others wait, each with a client of its own. */
export async function costOfRelease(name: LockName, waiters: number): Promise<Cost> {
  const contend: Contend = locks[name]
  const ensemble = await TestEnsemble.start({ history: { entries: 100_000 } })
  const wire = new Wire()
  // Pings are rare.
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
    // Who looks before all are in line is woken by each that comes.
    const entered = async (): Promise<void> => {
      entries.add()
      await entries.reaches(clients.length)
    }
    const [holding, ...others] = clients.map((zk) => contend(zk, () => waits.add(), entered))
    // At the end most of them wait still.
    for (const each of others) each.catch(() => {})
    const release = await holding!
    await waits.reaches(waiters)
    await wire.quiet()

    ensemble.history.clear()
    const before = wire.received
    await release()
    await Promise.race(others)
    // The herd has lain down again. (Of ours, none has stood up.)
    if (name !== '@zk/recipes') await waits.reaches(2 * waiters - 1)
    return { waiters, notifications: ensemble.history.events().length, bytes: wire.received - before }
  } finally {
    // All at once: each of them that left by itself would wake the others.
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

/** The machine's runtime, which counts what comes. */
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

  /** Nothing has come for a while. */
  async quiet(): Promise<void> {
    for (let before = -1; before !== this.received;) {
      before = this.received
      await sleep(100)
    }
  }
}
