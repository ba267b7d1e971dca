// `zk bench`: how fast the ensemble reads, writes and locks.
import { randomBytes } from 'node:crypto'
import { deleteRecursive, type ZooKeeper } from '@zk/client'
import { Lock } from '@zk/recipes'
import type { Command } from '../command/command.ts'
import { EXIT } from '../command/exit.ts'
import { withClientUntilSignal } from '../command/interrupt.ts'
import { type Arguments, UnknownNameError, UsageError } from '../command/options.ts'
import { print, printJson, say } from '../command/output.ts'
import { table } from '../command/table.ts'
import { checkPath } from '../nodes/path.ts'
import { measure, type Summary } from './latencies.ts'

const OPERATIONS = ['read', 'write', 'lock'] as const
type Operation = (typeof OPERATIONS)[number]

const DEFAULT_PATH = '/zk-bench'
/** Servers refuse a request of 1 MiB and more by default (jute.maxbuffer). */
const LARGEST_SIZE = 1_000_000
const MOST_IN_FLIGHT = 10_000
/** The cleaning may take so long, in ms. What is left is deleted by the servers. */
const CLEANING = 3_000

export const BENCH: Command = {
  usage: '[read] [write] [lock] [options]',
  options: [
    { name: 'number', value: 'N', help: 'how many of each (default: 2000)' },
    { name: 'in-flight', value: 'N', help: 'how many at a time (default: 20)' },
    { name: 'size', value: 'BYTES', help: 'the data of a node, random bytes (default: 100)' },
    {
      name: 'path',
      value: 'PATH',
      help: `the parent of the node for all nodes of this run (default: ${DEFAULT_PATH})`,
    },
    { name: 'json', help: 'print JSON' },
  ],
  notes: `A read is getData, a write setData, each of as many nodes as are in flight; a lock is acquire and release, without
others in line. Without a word, all three. Everything is below one node, which is deleted at the end. All nodes are
ephemeral or containers: if zk is killed, the servers delete them.

It is load for the ensemble: think before you run it in production. zk itself takes a part of the time.

Example:
  zk bench write --size 1000 --number 10000 --in-flight 100
`,
  run: bench,
}

async function bench(args: Arguments): Promise<number> {
  const odd = args.words.find((word) => !(OPERATIONS as readonly string[]).includes(word))
  if (odd !== undefined) throw new UnknownNameError(`there is no benchmark ${odd}`, odd, OPERATIONS)
  const asked = args.words.length === 0 ? OPERATIONS : OPERATIONS.filter((each) => args.words.includes(each))
  const number = args.wholeNumber('number', 1) ?? 2_000
  const inFlight = Math.min(args.wholeNumber('in-flight', 1) ?? 20, number)
  if (inFlight > MOST_IN_FLIGHT) throw new UsageError(`--in-flight is at most ${MOST_IN_FLIGHT}`)
  const size = args.wholeNumber('size', 0) ?? 100
  if (size > LARGEST_SIZE)
    throw new UsageError(`--size is at most ${LARGEST_SIZE}, because servers refuse larger requests`)
  const path = args.text('path') ?? DEFAULT_PATH
  checkPath(path)
  return withClientUntilSignal(args, async (zk, signal) => {
    const root = `${path === '/' ? '' : path}/run-${randomBytes(8).toString('hex')}`
    try {
      const results = await run(zk, root, { asked, number, inFlight, size, signal })
      if (args.has('json')) printJson({ size, inFlight, results: results.map(documentOf) })
      else print(table([['', 'COUNT', 'PER SECOND', 'P50', 'P99', 'MAX'], ...results.map(rowOf)]))
      return EXIT.done
    } finally {
      await clean(zk, root)
    }
  })
}

interface Plan {
  readonly asked: readonly Operation[]
  readonly number: number
  readonly inFlight: number
  readonly size: number
  readonly signal: AbortSignal
}

type Result = Summary & { readonly operation: Operation }

async function run(zk: ZooKeeper, root: string, { asked, number, inFlight, size, signal }: Plan): Promise<Result[]> {
  const lanes = Array.from({ length: inFlight }, (_, lane) => lane)
  const data = randomBytes(size)
  const pathOf = (lane: number): string => `${root}/n-${lane}`
  const locks = lanes.map((lane) => new Lock(zk, `${root}/lock-${lane}`))
  const calls: Readonly<Record<Operation, (lane: number) => Promise<unknown>>> = {
    read: (lane) => zk.getData(pathOf(lane), { signal }),
    write: (lane) => zk.setData(pathOf(lane), data, { signal }),
    lock: async (lane) => (await locks[lane]!.acquire({ signal })).release(),
  }
  const options = { mode: 'EPHEMERAL', signal } as const
  // The first node comes with its container, and keeps servers from deleting it.
  await zk.create(pathOf(0), data, { ...options, parents: true })
  await Promise.all(lanes.slice(1).map((lane) => zk.create(pathOf(lane), data, options)))
  const results: Result[] = []
  for (const operation of asked) {
    // The first call of a lock creates its container.
    await Promise.all(lanes.map((lane) => calls[operation](lane)))
    results.push({ operation, ...(await measure(number, inFlight, calls[operation])) })
  }
  return results
}

async function clean(zk: ZooKeeper, root: string): Promise<void> {
  try {
    await deleteRecursive(zk, root, { timeout: CLEANING })
  } catch (error) {
    say(`${root} is not deleted yet: the servers will delete it. ${(error as Error).message}`)
  }
}

function rowOf({ operation, count, perSecond, p50Ms, p99Ms, maxMs }: Result): string[] {
  const ms = (time: number): string => `${time.toFixed(2)} ms`
  return [operation, String(count), perSecond.toFixed(0), ms(p50Ms), ms(p99Ms), ms(maxMs)]
}

function documentOf({ operation, count, ...figures }: Result): Readonly<Record<string, unknown>> {
  const rounded = Object.entries(figures).map(([name, value]) => [name, Number(value.toFixed(3))] as const)
  return { operation, count, ...Object.fromEntries(rounded) }
}
