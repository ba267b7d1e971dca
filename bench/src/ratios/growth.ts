// How the cost of an operation grows with the number of requests in flight, of watches, and of waiters.
import { getting, handingOver, WATCHED, type Work, working } from './works.ts'

export interface Growth {
  readonly subject: string
  /** What the size counts. */
  readonly unit: string
  /** The name of one unit, if it stays in memory. */
  readonly one?: string
  readonly sizes: readonly number[]
  readonly workOf: (size: number) => Work
}

/** How many calls are in flight: while the watches are set, and in the measured work. */
const SETTING = 1_000
const CHANGING = 16
/** The timeout of a waiter, in ms. It is never reached. */
const WAIT = 600_000

export const growths: readonly Growth[] = [
  {
    subject: 'get from the stub',
    unit: 'requests in flight',
    sizes: [1, 10, 100, 1_000, 10_000],
    workOf: (size) => getting(`get from the stub: ${size} in flight`, 'stub', size, size < 10 ? 50_000 : 200_000),
  },
  {
    subject: 'watch, create, event',
    unit: 'watches that stand',
    one: 'a watch',
    sizes: [10, 100, 1_000, 10_000, 100_000],
    workOf: (size) =>
      working(`watch, create, event: beside ${size} watches`, CHANGING, 5_000, async (client, { path }) => {
        const standing = Array.from({ length: size }, (_, index) => `${path}/${WATCHED}/s${index}`)
        while (standing.length > 0) await Promise.all(standing.splice(0, SETTING).map((each) => client.watch(each)))
        let made = 0
        return async () => {
          const own = `${path}/${WATCHED}/n${made++}`
          const { event } = await client.watch(own)
          await client.create(own)
          await event
        }
      }),
  },
  {
    subject: 'hand-over of a lock',
    unit: 'waiters',
    one: 'a waiter',
    sizes: [2, 10, 50, 200, 500, 1_000],
    workOf: (size) => handingOver(size, 4_000),
  },
  {
    subject: 'the same, @zk with a timeout',
    unit: 'waiters',
    one: 'a waiter, which has a timeout in @zk',
    sizes: [2, 10, 50, 200, 500, 1_000],
    workOf: (size) => handingOver(size, 4_000, WAIT),
  },
]
