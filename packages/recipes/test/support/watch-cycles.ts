// Watches from their setting to their end, in every way that they can end.
import { KeeperError, type ZooKeeper } from '@zk/client'

interface Cycle {
  readonly zk: ZooKeeper
  /** Another client, which makes the changes. */
  readonly other: ZooKeeper
  /** Nobody else's. */
  readonly path: string
  /** One that lives as long as the program. */
  readonly signal: AbortSignal
}

const ways: readonly ((cycle: Cycle) => Promise<unknown>)[] = [
  async function changedData({ zk, other, path, signal }) {
    const { changed } = await zk.getDataAndWatch(path, { signal })
    await Promise.all([other.setData(path, ''), changed])
  },
  async function changedChildren({ zk, other, path, signal }) {
    const { changed } = await zk.getChildrenAndWatch(path, { signal })
    const { path: child } = await other.create(`${path}/n-`, '', { mode: 'EPHEMERAL_SEQUENTIAL' })
    await Promise.all([other.delete(child), changed])
  },
  async function created({ zk, other, path }) {
    const { changed } = await zk.existsAndWatch(`${path}/new`)
    await Promise.all([other.create(`${path}/new`), changed])
    await other.delete(`${path}/new`)
  },
  async function takenBack({ zk, path, signal }) {
    const { unwatch } = await zk.existsAndWatch(`${path}/none`, { signal })
    await unwatch()
  },
  async function abortedBeforeItWasSent({ zk, path }) {
    const own = new AbortController()
    const read = zk.getDataAndWatch(path, { signal: own.signal })
    own.abort()
    await read.catch(unlessAborted)
  },
  async function abortedUnderWay({ zk, other, path }) {
    const own = new AbortController()
    const read = zk.getChildrenAndWatch(path, { signal: own.signal }).catch(unlessAborted)
    await other.exists(path)
    own.abort()
    const watched = await read
    await watched?.unwatch()
  },
  async function persistentAndClosed({ zk, other, path, signal }) {
    const events = await zk.watch(path, { signal })
    await other.setData(path, '')
    await events.next()
    await events.return()
  },
  async function recursiveAndLeft({ zk, other, path, signal }) {
    const events = await zk.watch(path, { recursive: true, signal })
    await other.setData(path, '')
    for await (const _ of events) break
  },
  async function persistentAndAborted({ zk, path }) {
    const own = new AbortController()
    await zk.watch(path, { signal: own.signal })
    own.abort()
  },
  async function persistentAndAbortedBeforeItWasSet({ zk, path }) {
    const own = new AbortController()
    const watch = zk.watch(path, { recursive: true, signal: own.signal })
    own.abort()
    await watch.catch(unlessAborted)
  },
  async function persistentAndRemoved({ zk, path, signal }) {
    const events = await zk.watch(path, { signal })
    try {
      await zk.removeWatches(path)
    } finally {
      await events.return()
    }
  },
]

const LANES = 10
/** The watches of one batch. */
export const CYCLES_AT_ONCE = ways.length * LANES

const pathOf = (way: number, lane: number) => `/watched-${way}-${lane}`

export async function createWatched(zk: ZooKeeper): Promise<void> {
  await Promise.all(ways.flatMap((_, way) => lanes.map((lane) => zk.create(pathOf(way, lane)))))
}

/** A batch of them; what fails because the connection of `zk` is lost fails. */
export async function watchCycles(notified: Omit<Cycle, 'path'>): Promise<void> {
  await Promise.all(
    ways.flatMap((cycle, way) =>
      lanes.map((lane) => cycle({ ...notified, path: pathOf(way, lane) }).catch(unlessLost)),
    ),
  )
}

const lanes = Array.from({ length: LANES }, (_, lane) => lane)

function unlessLost(error: unknown): void {
  if (!KeeperError.is(error, 'ConnectionLoss')) throw error
}

function unlessAborted(error: unknown): undefined {
  if (!(error instanceof DOMException) || error.name !== 'AbortError') throw error
  return undefined
}
