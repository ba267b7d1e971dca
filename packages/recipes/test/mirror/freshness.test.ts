// A mirror beside a plain list of what the servers have committed: whatever the mirror says of its freshness is true of the list.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { KeeperError, Mirror, type ZooKeeper, type OpenMirror } from '../../src/index.ts'
import { copyOf, treeOf } from '../support/mirrors.ts'
import { Scene } from '../support/scene.ts'
import { Segments } from '../support/segments.ts'

const ROOT = '/app'
const PATHS = [ROOT, `${ROOT}/a`, `${ROOT}/a/x`, `${ROOT}/b`] as const
/** How long a reply or an event is under way, in ms. */
const LATENCY = 3
/** An event, then reads one after the other: at most so many ms until a mirror that is fresh shows a change. */
const SOON = 8 * LATENCY
/** Longer than any pause before a new connection or a new session, in ms. */
const RECONNECTED = 3_000

/** Histories for each release. */
const RUNS = Number(process.env['ZK_MODEL_RUNS'] ?? 40)

/** A change of a path. */
interface Commit {
  readonly path: string
  readonly zxid: bigint
  readonly at: number
  readonly isDeletion: boolean
}

const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ does: fc.constant('change' as const), path: fc.constantFrom(...PATHS) }) },
  { weight: 5, arbitrary: fc.record({ does: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 12 }) }) },
  // Changes come while reads and events of those before are under way.
  {
    weight: 8,
    arbitrary: fc.record({ does: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: LATENCY - 1 }) }),
  },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('cut' as const) }) },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('reconnect' as const) }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('synced' as const), timeout: fc.constantFrom(20, 60_000) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('expire' as const) }) },
)
const steps = fc.array(step, { maxLength: 40, size: 'max' })
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

class Beside {
  readonly #scene: Scene
  readonly #zk: ZooKeeper
  readonly #mirror: OpenMirror
  /** Joins what arrives in the same ms; undefined if each frame arrives by itself. */
  readonly #segments: Segments | undefined
  readonly #wrong: string[] = []
  #pending = 0
  /** In ms since the epoch. */
  #lastFresh = 0

  private constructor(scene: Scene, zk: ZooKeeper, mirror: OpenMirror, segments: Segments | undefined) {
    this.#scene = scene
    this.#zk = zk
    this.#mirror = mirror
    this.#segments = segments
  }

  static async open(release: '3.5' | '3.9', members: number, joins: boolean): Promise<Beside> {
    const scene = new Scene({ release, members })
    for (const path of PATHS) scene.ensemble.nodes.create(path)
    const segments = new Segments(scene.world)
    const zk = await scene.client({ runtime: segments.runtime })
    const opening = scene.start(new Mirror(zk, ROOT).open())
    await scene.world.advance(RECONNECTED)
    scene.network.latency = () => LATENCY
    scene.memberLatency = members === 1 ? 0 : LATENCY
    return new Beside(scene, zk, (await opening).value, joins ? segments : undefined)
  }

  async play(steps: readonly Step[]): Promise<readonly string[]> {
    for (const each of steps) {
      await this.#take(each)
      this.#look()
    }
    await this.#scene.world.advance(2 * RECONNECTED)
    this.#look()
    expect([this.#mirror.isStale, this.#pending, copyOf(this.#mirror)]).toEqual([false, 0, treeOf(this.#scene, ROOT)])
    const written = this.#list.findLast(({ isDeletion }) => !isDeletion)!
    expect(this.#mirror.zxid).toBeGreaterThanOrEqual(this.#mirror.get(written.path) === undefined ? 0n : written.zxid)
    await this.#mirror.close()
    return this.#wrong
  }

  async #take(each: Step): Promise<void> {
    const { world, ensemble } = this.#scene
    switch (each.does) {
      case 'change': {
        const node = ensemble.nodes.get(each.path)
        if (node === undefined) ensemble.nodes.create(each.path)
        else if (node.children.length > 0 || node.stat.version === 1) ensemble.nodes.setData(each.path, 'new')
        else if (each.path === ROOT || node.stat.version > 1) ensemble.nodes.delete(each.path)
        else ensemble.nodes.setData(each.path, 'first')
        return world.settle()
      }
      case 'pass':
        for (let ms = 0; ms < each.ms; ms++) {
          this.#segments?.hold()
          await world.advance(1)
          this.#segments?.deliver()
          await world.settle()
          this.#look()
        }
        return
      case 'cut':
        this.#scene.cut(this.#zk)
        return world.settle()
      case 'reconnect':
        while (this.#zk.session.connection === undefined) await world.advance(1)
        return
      case 'synced':
        void this.#synced(each.timeout)
        return
      case 'expire':
        if (ensemble.sessions.get(this.#zk.session.id) !== undefined) this.#scene.expire(this.#zk)
        return world.settle()
    }
  }

  /** All that was committed before the call is shown when it resolves, at once. */
  async #synced(timeout: number): Promise<void> {
    const called = this.#now
    const committed = this.#list.at(-1)!.zxid
    this.#pending++
    try {
      await this.#mirror.synced({ timeout })
      if (this.#mirror.isStale) this.#wrong.push('is stale when synced resolves')
      this.#must('resolves synced', this.#missing(committed))
    } catch (error) {
      const isLate = KeeperError.is(error, 'RequestTimeout') && this.#now >= called + timeout
      if (!isLate) this.#wrong.push(`synced rejects with ${String(error)}`)
    }
    this.#pending--
  }

  #look(): void {
    const { isStale, staleSince = Infinity, zxid } = this.#mirror
    this.#must(`says ${zxid}`, this.#missing(zxid))
    if (isStale) {
      if (staleSince < this.#lastFresh || staleSince > this.#now) this.#wrong.push(`is stale since ${staleSince}`)
      return
    }
    this.#lastFresh = this.#now
    if (this.#zk.session.connection === undefined) this.#wrong.push('is fresh without a connection')
    const known = this.#list.findLast(({ at }) => at <= this.#now - SOON)
    this.#must('is fresh', this.#missing(known?.zxid ?? 0n))
  }

  get #now(): number {
    return this.#scene.world.wallNow()
  }

  /** The plain list: every change, in the order of the servers. */
  get #list(): readonly Commit[] {
    return this.#scene.ensemble.committedAfter(0n)!.flatMap(({ header: { zxid, time }, txn }) => {
      const isChange = txn.type === 'create' || txn.type === 'setData' || txn.type === 'delete'
      return isChange ? [{ path: txn.path, zxid, at: time, isDeletion: txn.type === 'delete' }] : []
    })
  }

  /** The changes up to this transaction that the mirror lacks. */
  #missing(upTo: bigint): readonly string[] {
    const list = this.#list
    return PATHS.flatMap((path) => {
      const changes = list.filter((commit) => commit.path === path)
      const last = changes.findLast(({ zxid }) => zxid <= upTo)
      if (last === undefined) return []
      const stat = this.#mirror.get(path)?.stat
      const isGoneSince = changes.some(({ zxid, isDeletion }) => isDeletion && zxid >= last.zxid)
      const isShown = stat === undefined ? isGoneSince : (last.isDeletion ? stat.czxid : stat.mzxid) >= last.zxid
      return isShown ? [] : [`${path} of ${last.zxid}`]
    })
  }

  #must(what: string, missing: readonly string[]): void {
    if (missing.length > 0) this.#wrong.push(`${what}, and lacks ${missing.join(', ')}`)
  }
}

test.each(['3.5', '3.9'] as const)(
  'Mirror.isStale, zxid and synced are true of a list of all commits, on servers %s',
  async (release) => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(1, 3), fc.boolean(), steps, async (members, joins, each) => {
        expect(await (await Beside.open(release, members, joins)).play(each)).toEqual([])
      }),
      { numRuns: RUNS },
    )
  },
)

const [, A, CHILD, B] = PATHS
const change = (path: (typeof PATHS)[number]): Step => ({ does: 'change', path })
const pass = (ms: number): Step => ({ does: 'pass', ms })
const cutOff = (...changes: readonly Step[]): Step[] => [{ does: 'cut' }, ...changes, { does: 'reconnect' }]
/** From version 0, in which all begin. */
const deleted = (path: (typeof PATHS)[number]): Step[] => [change(path), change(path), change(path)]

/** Both are deleted, and a while later the parent is there again. */
const madeAgain = (parent: (typeof PATHS)[number], child: (typeof PATHS)[number]): Step[] => [
  ...deleted(child),
  ...deleted(parent),
  pass(SOON),
  change(parent),
]

/** The first and the second thing, and the second and the third one, are so many ms apart. */
const close: readonly (readonly [name: string, steps: (first: number, second: number) => readonly Step[]])[] = [
  // The last read of B shows a change that is later than that of the child, which is not read yet.
  ['changes', (first, second) => [change(A), pass(first), change(B), pass(second), change(CHILD), change(B)]],
  [
    'changes, and two cuts,',
    (first, second) => [...cutOff(change(A)), pass(first), ...cutOff(change(B)), pass(second), change(CHILD)],
  ],
  [
    'changes of a node, and a cut during which its child goes,',
    (first, second) => [change(A), pass(first), change(A), pass(second), ...cutOff(...deleted(CHILD))],
  ],
  // The event of the child may come in one segment with the reply to the first read of its parent.
  [
    'the creates of a node and its child, and a change,',
    (first, second) => [...madeAgain(A, CHILD), pass(first), change(CHILD), pass(second), change(B)],
  ],
]
const FURTHEST = 2 * LATENCY

const ways = (['3.5', '3.9'] as const).flatMap((release) =>
  (['by itself', 'with others'] as const).map((arrives) => [release, arrives] as const),
)

test.each(close.flatMap(([name, steps]) => ways.map((way) => [name, ...way, steps] as const)))(
  'Mirror.isStale, zxid and synced are true however closely %s follow each other, on servers %s, each frame %s',
  async (_, release, arrives, stepsOf) => {
    for (let first = 0; first <= FURTHEST; first++) {
      for (let second = 0; second <= FURTHEST; second++) {
        const beside = await Beside.open(release, 1, arrives === 'with others')
        const wrong = await beside.play([...stepsOf(first, second), { does: 'synced', timeout: 60_000 }, pass(SOON)])
        expect(wrong, `${first} ms, ${second} ms`).toEqual([])
      }
    }
  },
)
