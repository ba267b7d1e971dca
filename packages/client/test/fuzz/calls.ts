// What a busy user asks of a client, by a seed, and what became of it.
import { OpCode } from '@zk/wire'
import { deleteRecursive, KeeperError, type NodeEvents, op, walk, type ZooKeeper } from '../../src/index.ts'
import { type Outcome, outcome, pick, type SeededRandom } from '../support/index.ts'
import { questionOf } from './answers.ts'
import { sealsIn } from './seals.ts'
import { strangeness } from './strangeness.ts'
import type { Wiretap } from './wiretap.ts'

/** Nodes that many watch. */
export const WATCHED = ['/', '/k1', '/k1/a', '/k2']

interface Asking {
  readonly zk: ZooKeeper
  readonly random: SeededRandom
  /** Data of this call only. */
  readonly path: string
  /** The number of one call among many. */
  readonly watched: string
  readonly options: { readonly signal?: AbortSignal; readonly timeout?: number }
}

interface Kind {
  readonly name: string
  readonly writes?: boolean
  /** The opcodes whose seals the answer holds, of the call's path. */
  readonly holds?: readonly number[]
  /** The opcode asked with, where it is another. */
  readonly asks?: number
  readonly ask: (asking: Asking, calls: Calls) => Promise<unknown>
}

const kinds: readonly Kind[] = [
  { name: 'getData', holds: [OpCode.getData], ask: ({ zk, path, options }) => zk.getData(path, options) },
  { name: 'getData', holds: [OpCode.getData], ask: ({ zk, path }) => zk.getData(path, { session: zk.session }) },
  { name: 'getChildren', holds: [OpCode.getChildren2], ask: ({ zk, path, options }) => zk.getChildren(path, options) },
  { name: 'getEphemerals', holds: [OpCode.getEphemerals], ask: ({ zk, path }) => zk.getEphemerals(path) },
  {
    name: 'multiRead',
    holds: [OpCode.getData, OpCode.getChildren],
    asks: OpCode.multiRead,
    ask: ({ zk, path }) => zk.multiRead([op.getData(path), op.getChildren(path), op.getData(path)]),
  },
  { name: 'exists', ask: ({ zk, path, options }) => zk.exists(path, options) },
  { name: 'getACL', ask: ({ zk, path }) => zk.getACL(path) },
  { name: 'setACL', writes: true, ask: ({ zk, path }) => zk.setACL(path, [worldACL]) },
  { name: 'create', writes: true, ask: ({ zk, path, options }) => zk.create(path, 'x', options) },
  {
    name: 'create',
    writes: true,
    ask: ({ zk, path }) => zk.create(path, 'x', { mode: 'PERSISTENT_WITH_TTL', ttl: 1 }),
  },
  { name: 'create', writes: true, ask: ({ zk, path }) => zk.create(`${path}/a/b`, 'x', { parents: true }) },
  { name: 'ensureContainer', writes: true, ask: ({ zk, path }) => zk.ensureContainer(`${path}/a`) },
  { name: 'ensurePath', writes: true, ask: ({ zk, path }) => zk.ensurePath(`${path}/a`) },
  { name: 'delete', writes: true, ask: ({ zk, path, options }) => zk.delete(path, options) },
  { name: 'setData', writes: true, ask: ({ zk, path, options }) => zk.setData(path, 'y', options) },
  {
    name: 'multi',
    writes: true,
    ask: ({ zk, path }) => zk.multi([op.check(path), op.create(`${path}/a`), op.setData(path, 'z'), op.delete(path)]),
  },
  { name: 'sync', ask: ({ zk, path }) => zk.sync(path) },
  { name: 'getAllChildrenNumber', ask: ({ zk, path }) => zk.getAllChildrenNumber(path) },
  { name: 'whoAmI', ask: ({ zk }) => zk.whoAmI() },
  { name: 'getConfig', ask: ({ zk }) => zk.getConfig() },
  { name: 'reconfig', writes: true, ask: ({ zk }) => zk.reconfig({ leaving: [3] }) },
  { name: 'checkWatches', ask: ({ zk, watched }) => zk.checkWatches(watched) },
  { name: 'removeWatches', ask: ({ zk, watched }) => zk.removeWatches(watched) },
  { name: 'addAuth', ask: ({ zk, random }) => zk.addAuth('digest', `user${random.below(3)}:secret`) },
  { name: 'deleteRecursive', writes: true, ask: ({ zk, path }) => deleteRecursive(zk, path) },
  { name: 'walk', ask: ({ zk, path }) => walked(zk, path) },
  { name: 'getDataAndWatch', ask: async ({ zk, watched }, calls) => calls.awaits(await zk.getDataAndWatch(watched)) },
  { name: 'getDataAndWatch', ask: async ({ zk, watched }, calls) => calls.awaits(await zk.getDataAndWatch(watched)) },
  { name: 'existsAndWatch', ask: async ({ zk, watched }, calls) => calls.awaits(await zk.existsAndWatch(watched)) },
  {
    name: 'getChildrenAndWatch',
    ask: async ({ zk, watched }, calls) => calls.awaits(await zk.getChildrenAndWatch(watched)),
  },
  { name: 'getConfigAndWatch', ask: async ({ zk }, calls) => calls.awaits(await zk.getConfigAndWatch()) },
  { name: 'watch', ask: async ({ zk, watched }, calls) => calls.follows(await zk.watch(watched, { maxQueued: 5 })) },
  { name: 'watch', ask: async ({ zk, watched }, calls) => calls.follows(await zk.watch(watched, { recursive: true })) },
  { name: 'unwatch', ask: async ({ random }, calls) => calls.unwatch(random) },
]

async function walked(zk: ZooKeeper, path: string): Promise<void> {
  for await (const { children } of walk(zk, path)) void children
}

const worldACL = { perms: 31, id: { scheme: 'world', id: 'anyone' } }

interface Call {
  readonly kind: Kind
  readonly path: string
  readonly signal: AbortSignal | undefined
  readonly outcome: Outcome<unknown>
}

/** Every promise that a client has given. */
export class Calls {
  readonly all: Call[] = []
  /** One-shot watches. */
  readonly watches: Outcome<unknown>[] = []
  /** Persistent ones: what each received, and what became of the loop over it. */
  readonly loops: { readonly events: NodeEvents; readonly notified: string[]; readonly outcome: Outcome<void> }[] = []
  readonly #random: SeededRandom
  readonly #unwatch: (() => Promise<void>)[] = []
  #aborts: AbortController[] = []

  constructor(random: SeededRandom) {
    this.#random = random
  }

  /** Some calls of one turn; what they are. */
  make(zk: ZooKeeper): string {
    return Array.from({ length: 1 + this.#random.below(8) }, () => this.#one(zk)).join(', ')
  }

  /** Nobody waits any more for calls that came with a signal. */
  abort(): void {
    for (const controller of this.#aborts) controller.abort()
    this.#aborts = []
  }

  /** Calls and loops that are not settled. */
  get pending(): string[] {
    return this.all
      .filter(({ outcome }) => outcome.status === 'pending')
      .map(({ kind, path }) => `${kind.name} ${path}`)
  }

  /** What is not as it must be with the calls that are settled; `taps` say what the client was given. */
  *faults(taps: readonly Wiretap[], chroot: string): Generator<string> {
    for (const { kind, path, signal, outcome } of this.all) {
      const { status, error } = outcome
      if (status === 'rejected' && !(signal?.aborted && error === signal.reason)) yield* errorFaults(kind, error)
      if (status === 'fulfilled' && hasNull(outcome.value)) yield `${kind.name} was given a null`
      if (status === 'fulfilled' && kind.holds !== undefined) yield* crossings(kind, chroot + path, outcome.value, taps)
    }
    for (const { outcome } of this.loops)
      if (outcome.status === 'rejected') yield* errorFaults({ name: 'watch' }, outcome.error)
    if (this.watches.some(({ status }) => status === 'rejected')) yield 'changed was rejected'
  }

  awaits({ changed, unwatch }: { changed: Promise<unknown>; unwatch: () => Promise<void> }): void {
    this.watches.push(outcome(changed))
    this.#unwatch.push(unwatch)
  }

  follows(events: NodeEvents): void {
    const notified: string[] = []
    const loop = async () => {
      for await (const { type } of events) notified.push(type)
    }
    this.loops.push({ events, notified, outcome: outcome(loop()) })
  }

  async unwatch(random: SeededRandom): Promise<void> {
    const loop = this.loops[random.below(8)]
    await loop?.events.return()
    await this.#unwatch[random.below(8)]?.()
  }

  #one(zk: ZooKeeper): string {
    const random = this.#random
    const kind = pick(random, kinds)
    const path = `/u${this.all.length}`
    const controller = random.below(6) === 0 ? new AbortController() : undefined
    if (controller !== undefined) this.#aborts.push(controller)
    const timeout = random.below(8) === 0 ? random.below(5_000) : undefined
    const options = { ...(controller && { signal: controller.signal }), ...(timeout !== undefined && { timeout }) }
    const asking = { zk, random, path, watched: pick(random, WATCHED), options }
    this.all.push({ kind, path, signal: controller?.signal, outcome: outcome(kind.ask(asking, this)) })
    return `${kind.name} ${path}`
  }
}

function* errorFaults({ name, writes = false }: Pick<Kind, 'name' | 'writes'>, error: unknown): Generator<string> {
  const strange = KeeperError.is(error) ? strangeness(error) : String(error)
  if (strange !== undefined) yield `${name} was rejected with ${strange}`
  if (KeeperError.is(error) && error.outcomeUnknown && !writes) yield `${name} has an unknown outcome`
}

/** What may be null on the wire is never so in what the client gives. */
function hasNull(value: unknown): boolean {
  if (value === null) return true
  if (typeof value !== 'object' || value instanceof Uint8Array) return false
  return Object.values(value).some(hasNull)
}

/** A value that stands in the answer to another question, which was not given as the answer to this one. */
function* crossings(kind: Kind, path: string, value: unknown, taps: readonly Wiretap[]): Generator<string> {
  const own = kind.holds!.map((opCode) => `${questionOf(opCode, path)} `)
  const foreign = sealsIn(value).filter((seal) => !own.some((question) => seal.startsWith(question)))
  const question = kind.asks === undefined ? own[0]!.trimEnd() : questionOf(kind.asks, '')
  for (const seal of foreign) {
    if (!taps.some((tap) => tap.answered(question, seal))) yield `${kind.name} ${path} was given the answer to ${seal}`
  }
}
