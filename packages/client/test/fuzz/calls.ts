// What a busy user asks of a client, by a seed, and what became of it.
import {
  deleteRecursive,
  KeeperError,
  type PersistentWatchEvent,
  type WatchIterator,
  walk,
  type Watched,
  type ZooKeeper,
} from '../../src/index.ts'
import { type Call, calls, type Limits } from '../support/calls.ts'
import { type Outcome, outcome, pick, type SeededRandom } from '../support/index.ts'
import { sealed, sealsIn } from './seals.ts'
import { strangeness } from './strangeness.ts'
import type { Wiretap } from './wiretap.ts'

/** Nodes that many watch. */
const K1 = `/${sealed('k1')}`
export const WATCHED = ['/', K1, `${K1}/${sealed('a')}`, `/${sealed('k2')}`]

/** Calls that are several requests, and options that change an answer. */
const more: readonly Call[] = [
  { name: 'getData of the session', make: (zk, path) => zk.getData(path, { session: zk.session }) },
  {
    name: 'getEphemerals of a node',
    isWrite: true,
    make: async (zk, path) => {
      await zk.create(`${path}/e`, 'own', { mode: 'EPHEMERAL' })
      return zk.getEphemerals(path)
    },
  },
  {
    name: 'create PERSISTENT_WITH_TTL',
    isWrite: true,
    make: (zk, path) => zk.create(path, 'x', { mode: 'PERSISTENT_WITH_TTL', ttl: 100_000 }),
  },
  { name: 'create parents', isWrite: true, make: (zk, path) => zk.create(`${path}/a/b`, 'x', { parents: true }) },
  { name: 'ensureContainer', isWrite: true, make: (zk, path) => zk.ensureContainer(`${path}/a`) },
  { name: 'ensurePath', isWrite: true, make: (zk, path) => zk.ensurePath(`${path}/a`) },
  { name: 'deleteRecursive', isWrite: true, make: (zk, path) => deleteRecursive(zk, path) },
  {
    name: 'walk',
    make: async (zk, path) => {
      const walked: unknown[] = []
      for await (const node of walk(zk, path)) walked.push(node)
      return walked
    },
  },
  { name: 'getConfig', make: (zk) => zk.getConfig() },
  { name: 'reconfig', isWrite: true, make: (zk) => zk.reconfig({ leaving: [9] }) },
  { name: 'checkWatches', removesWatches: true, make: (zk, path) => zk.checkWatches(path) },
  { name: 'getConfigAndWatch', setsWatch: true, make: (zk) => zk.getConfigAndWatch() },
  { name: 'watch with a short queue', setsWatch: true, make: (zk, path) => zk.watch(path, { maxQueued: 5 }) },
]
const LEAVE: Pick<Call, 'name'> = { name: 'unwatch' }
/** Mostly reads: their answers have most to decode. */
const reads = [...calls, ...more].filter(({ isWrite, removesWatches }) => isWrite !== true && removesWatches !== true)
const drawn = [...calls, ...more, ...reads, ...reads]

interface Made {
  readonly call: Omit<Call, 'make'>
  readonly path: string
  readonly signal: AbortSignal | undefined
  readonly outcome: Outcome<unknown>
}

/** Every promise that a client has given. */
export class Calls {
  readonly all: Made[] = []
  /** One-shot watches. */
  readonly watches: Outcome<unknown>[] = []
  /** Persistent ones: what each received, and what became of the loop over it. */
  readonly loops: {
    readonly events: WatchIterator<PersistentWatchEvent>
    readonly notified: string[]
    readonly outcome: Outcome<void>
  }[] = []
  readonly #random: SeededRandom
  /** Creates the node of a call, of which the servers have most. */
  readonly #prepare: (path: string) => void
  readonly #unwatch: (() => Promise<void>)[] = []
  #aborts: AbortController[] = []

  constructor(random: SeededRandom, prepare: (path: string) => void) {
    this.#random = random
    this.#prepare = prepare
  }

  /** Some calls of one turn; what they are. */
  make(zk: ZooKeeper): string {
    if (this.#random.below(4) === 0)
      this.all.push({ call: LEAVE, path: '/', signal: undefined, outcome: outcome(this.#leave()) })
    return Array.from({ length: 1 + this.#random.below(8) }, () => this.#one(zk)).join(', ')
  }

  /** Nobody waits any more for calls that came with a signal. */
  abort(): void {
    for (const controller of this.#aborts) controller.abort()
    this.#aborts = []
  }

  /** Calls that are not settled. */
  get pending(): string[] {
    return this.all
      .filter(({ outcome }) => outcome.status === 'pending')
      .map(({ call, path }) => `${call.name} ${path}`)
  }

  /** What is not as it must be with the calls that are settled; `taps` say what the client was given. */
  *faults(taps: readonly Wiretap[]): Generator<string> {
    for (const { call, path, signal, outcome } of this.all) {
      const { status, error } = outcome
      if (status === 'rejected' && !(signal?.aborted && error === signal.reason)) yield* errorFaults(call, error)
      if (status !== 'fulfilled') continue
      if (hasNull(outcome.value)) yield `${call.name} was given a null`
      yield* crossings(call, path, outcome.value, taps)
    }
    for (const { outcome } of this.loops)
      if (outcome.status === 'rejected') yield* errorFaults({ name: 'watch' }, outcome.error)
    if (this.watches.some(({ status }) => status === 'rejected')) yield 'changed was rejected'
  }

  #one(zk: ZooKeeper): string {
    const random = this.#random
    const call = pick(random, drawn)
    const isOnWatched = call.setsWatch === true || call.removesWatches === true
    const path = isOnWatched ? pick(random, WATCHED) : `/${sealed(`u${this.all.length}`)}`
    if (!isOnWatched && random.below(4) > (call.isWrite === true ? 1 : 0)) this.#prepare(path)
    const controller = random.below(6) === 0 ? new AbortController() : undefined
    if (controller !== undefined) this.#aborts.push(controller)
    const timeout = random.below(8) === 0 ? random.below(5_000) : undefined
    const limits = { ...(controller && { signal: controller.signal }), ...(timeout !== undefined && { timeout }) }
    this.all.push({ call, path, signal: controller?.signal, outcome: outcome(this.#made(call, zk, path, limits)) })
    return `${call.name} ${path}`
  }

  async #made(call: Call, zk: ZooKeeper, path: string, limits: Limits): Promise<unknown> {
    const answer = await call.make(zk, path, limits)
    if (call.setsWatch === true) this.#follow(answer as Watched | WatchIterator<PersistentWatchEvent>)
    return answer
  }

  #follow(watch: Watched | WatchIterator<PersistentWatchEvent>): void {
    if ('changed' in watch) {
      this.watches.push(outcome(watch.changed))
      this.#unwatch.push(watch.unwatch)
      return
    }
    const notified: string[] = []
    const loop = async () => {
      for await (const { type } of watch) notified.push(type)
    }
    this.loops.push({ events: watch, notified, outcome: outcome(loop()) })
  }

  async #leave(): Promise<void> {
    const [loop, unwatch] = [this.#random.below(8), this.#random.below(8)]
    await this.loops[loop]?.events.return()
    await this.#unwatch[unwatch]?.()
  }
}

function* errorFaults({ name, isWrite = false }: Omit<Call, 'make'>, error: unknown): Generator<string> {
  const strange = KeeperError.is(error) ? strangeness(error) : String(error)
  if (strange !== undefined) yield `${name} was rejected with ${strange}`
  if (KeeperError.is(error) && error.outcomeUnknown && !isWrite) yield `${name} has an unknown outcome`
}

/** What may be null on the wire is never so in what the client gives. */
function hasNull(value: unknown): boolean {
  if (value === null) return true
  if (typeof value !== 'object' || value instanceof Uint8Array) return false
  return Object.values(value).some(hasNull)
}

/** What belongs to another node, and was not given as the answer to this call. */
function* crossings({ name, setsWatch }: Made['call'], path: string, value: unknown, taps: readonly Wiretap[]) {
  const own = sealsIn(path)
  // Watched nodes have children that other calls create.
  const said = setsWatch === true ? (value as { readonly data?: unknown }).data : value
  for (const seal of sealsIn(said)) {
    if (own.includes(seal) || taps.some((tap) => own.some((each) => tap.answered(each, seal)))) continue
    yield `${name} ${path} was given what is of ${seal}`
  }
}
