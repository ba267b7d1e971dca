// The works that are measured. A work defines an operation and how often a client does it, for any client.
import type { Client, Connect } from './clients/client.ts'

export interface Work {
  readonly name: string
  /** The stub answers at once, so that the cost is mostly that of the client. */
  readonly server: 'stub' | 'real'
  /** How many operations are measured. */
  readonly count: number
  /** Calls `measure` once. */
  readonly run: (bench: Bench) => Promise<void>
}

/** What the run of a work gets. */
export interface Bench {
  /** A node that only this run uses. */
  readonly path: string
  readonly count: number
  connect(): ReturnType<Connect>
  /** Measures the CPU and the time of this process until the promise of `work` resolves. Must be called once. */
  measure(work: (took: (ms: number) => void) => Promise<unknown>): Promise<void>
  /** Asks another process to create all watched nodes in one transaction. */
  fire(): void
}

/** Nodes that exist for all runs. */
export const shared = { root: '/shared', small: '/shared/small', large: '/shared/large', crowd: '/shared/crowd' }

/** The names of nodes below the path of a run. */
export const LOCK = 'lock'
export const WATCHED = 'watched'

/** The size of the small node, and of the data of each `set`, in bytes. */
export const SMALL = 64
export const LARGE = 512 * 1_024
/** The number of children of `crowd`. */
export const CROWD = 10_000
export const WATCHES = 10_000
export const watchedName = (index: number) => `${WATCHED}/w${String(index).padStart(6, '0')}`

type Operate = (index: number) => Promise<unknown>

/** How many operations come before the measured ones, as a share of them: engines must first compile the code. */
const WARM_UP = 1 / 2

export const works: readonly Work[] = [
  getting('get, 64 in flight, stub', 'stub', 64, 200_000),
  getting('get, 1,024 in flight, stub', 'stub', 1_024, 200_000),
  getting('get, one at a time', 'real', 1, 15_000),
  getting('get, 64 in flight', 'real', 64, 60_000),
  working('set, 64 in flight', 64, 20_000, (client) => {
    const data = new Uint8Array(SMALL).fill(97)
    return () => client.set(shared.small, data)
  }),
  working('create + delete, 64 in flight', 64, 10_000, (client, { path }) => async (index) => {
    const own = `${path}/n${index}`
    await client.create(own)
    await client.delete(own)
  }),
  working('getChildren, 10,000 names', 1, 200, (client) => () => client.children(shared.crowd)),
  working('get of 512 KiB', 1, 400, (client) => () => client.get(shared.large)),
  {
    name: 'setting 10,000 watches',
    server: 'real',
    count: WATCHES,
    run: async (bench) => {
      const client = await bench.connect()
      await bench.measure(() => setWatches(client, bench))
      await client.close()
    },
  },
  {
    name: 'watch event, 10,000 at once',
    server: 'real',
    count: WATCHES,
    run: async (bench) => {
      const client = await bench.connect()
      const events = (await setWatches(client, bench)).map(({ event }) => event)
      await bench.measure(() => {
        bench.fire()
        return Promise.all(events)
      })
      await client.close()
    },
  },
  working('free lock, acquire + release', 1, 5_000, (client, { path }) => async () => {
    const release = await client.acquire(`${path}/${LOCK}`)
    await release()
  }),
  handingOver(10, 5_000),
  handingOver(500, 4_000),
  {
    name: 'connect + first reply',
    server: 'real',
    count: 300,
    run: async (bench) => {
      const once = async () => {
        const client = await bench.connect()
        await client.get(shared.small)
        return client
      }
      for (let i = bench.count * WARM_UP; i > 0; i--) await (await once()).close()
      await bench.measure(async (took) => {
        for (let i = 0; i < bench.count; i++) {
          const start = performance.now()
          const client = await once()
          took(performance.now() - start)
          await client.close()
        }
      })
    },
  },
]

export function getting(name: string, server: Work['server'], inFlight: number, count: number): Work {
  return {
    ...working(name, inFlight, count, (client) => () => client.get(shared.small)),
    server,
  }
}

/** One client that repeats an operation, with `inFlight` calls under way. */
export function working(
  name: string,
  inFlight: number,
  count: number,
  operation: (client: Client, bench: Bench) => Operate | Promise<Operate>,
): Work {
  return {
    name,
    server: 'real',
    count,
    run: async (bench) => {
      const client = await bench.connect()
      const act = await operation(client, bench)
      await repeat(act, inFlight, bench.count * WARM_UP)
      await bench.measure((took) => repeat(act, inFlight, bench.count, took))
      await client.close()
    },
  }
}

async function repeat(
  act: Operate,
  inFlight: number,
  count: number,
  took: (ms: number) => void = () => {},
): Promise<void> {
  let index = 0
  const loop = async () => {
    while (index < count) {
      const start = performance.now()
      await act(index++)
      took(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: inFlight }, loop))
}

function setWatches(client: Client, { path }: Bench): Promise<{ readonly event: Promise<unknown> }[]> {
  return Promise.all(Array.from({ length: WATCHES }, (_, index) => client.watch(`${path}/${watchedName(index)}`)))
}

/** All contenders belong to one session. A contender that releases queues again, so the number of waiters stays the same. */
export function handingOver(waiters: number, count: number, timeout?: number): Work {
  return {
    name: `hand-over, ${waiters} waiters${timeout === undefined ? '' : ' with a timeout'}`,
    server: 'real',
    count,
    run: async (bench) => {
      const client = await bench.connect()
      const lock = `${bench.path}/${LOCK}`
      let turns = 0
      let last = 0
      let report: (ms: number) => void = () => {}
      let begin = () => {}
      const isWarm = new Promise<void>((resolve) => (begin = resolve))
      let end = () => {}
      const isOver = new Promise<void>((resolve) => (end = resolve))
      const first = Math.max(waiters * 2, count * WARM_UP)
      const loop = async () => {
        while (turns < first + count) {
          const release = await client.acquire(lock, timeout)
          const now = performance.now()
          turns++
          if (turns === first) begin()
          if (turns > first) report(now - last)
          if (turns === first + count) end()
          last = now
          await release()
        }
      }
      const loops = Array.from({ length: waiters }, loop)
      await isWarm
      await bench.measure((took) => {
        report = took
        return isOver
      })
      await Promise.all(loops)
      await client.close()
    },
  }
}
