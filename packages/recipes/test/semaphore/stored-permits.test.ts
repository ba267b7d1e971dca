// The stored number of permits beside a plain list of the writes that were committed. Two clients resize and read, and others write,
// while requests and replies are lost. Each resize stores a number of its own, so the list shows which writes are its.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { KeeperError, type ZooKeeper } from '../../src/index.ts'
import { fail, loseReply, loseRequest } from '../support/faults.ts'
import { SeededRandom } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'
import { PATH, RECONNECTED, semaphoreOf, stored } from '../support/semaphore.ts'

/** Histories in a run. */
const RUNS = Number(process.env['ZK_MODEL_RUNS'] ?? 100)
/** The longest time of a reply, in ms. */
const LATENCY = 4

interface Write {
  readonly at: number
  readonly session: bigint
  /** undefined if the node was deleted, or has no data. */
  readonly permits: number | undefined
}

const faults = { loseReply, loseRequest, throttle: fail('ThrottledOp') } as const
const by = fc.nat(1)
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ does: fc.constant('resize' as const), by, timeout: fc.constantFrom(10, 60_000, 60_000) }),
  },
  { weight: 3, arbitrary: fc.record({ does: fc.constant('read' as const), by }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant('foreign' as const), what: fc.constantFrom('write', 'delete', 'empty') }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('fault' as const),
      fault: fc.constantFrom(...(Object.keys(faults) as (keyof typeof faults)[])),
      op: fc.constantFrom('setData', 'setData', 'create2', 'getData'),
    }),
  },
  { weight: 5, arbitrary: fc.record({ does: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 10 }) }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

class Beside {
  readonly #scene: Scene
  readonly #clients: readonly ZooKeeper[]
  readonly #wrong: string[] = []
  /** Numbers that may not be stored: their resize has ended without. */
  readonly #never = new Set<number>()
  /** When a request or reply was lost. */
  readonly #lost: number[] = []
  #last = 0
  #pending = 0

  private constructor(scene: Scene, clients: readonly ZooKeeper[]) {
    this.#scene = scene
    this.#clients = clients
  }

  static async begin(seed: number): Promise<Beside> {
    const scene = new Scene({ seed })
    scene.ensemble.nodes.create('/semaphores')
    const clients = await scene.clients(2)
    const random = new SeededRandom(seed)
    scene.network.latency = () => random.below(LATENCY + 1)
    return new Beside(scene, clients)
  }

  async play(steps: readonly Step[]): Promise<readonly string[]> {
    for (const each of steps) {
      this.#take(each)
      await this.#scene.world.advance(each.does === 'pass' ? each.ms : 0)
    }
    await this.#scene.world.advance(2 * RECONNECTED)
    const list = this.#list
    for (let number = 1; number <= this.#last; number++) {
      const count = list.filter(({ permits, session }) => permits === number && session !== 0n).length
      const isMadeAgain = list.some(({ permits }) => permits === undefined)
      if (count > 1 && !isMadeAgain) this.#wrong.push(`${number} was stored ${count} times`)
      if (count > 0 && this.#never.has(number))
        this.#wrong.push(`${number} was stored, and its resize says that it was not`)
    }
    if (this.#pending > 0) this.#wrong.push(`${this.#pending} calls do not end`)
    return this.#wrong
  }

  #take(each: Step): void {
    const { nodes, faults: rules } = this.#scene.ensemble
    switch (each.does) {
      case 'resize':
        return void this.#resize(this.#clients[each.by]!, each.timeout)
      case 'read':
        return void this.#read(this.#clients[each.by]!)
      case 'fault': {
        const { fired } = faults[each.fault](rules, { op: each.op, path: PATH })
        if (each.fault !== 'throttle') void fired.then(() => this.#lost.push(this.#now))
        return
      }
      case 'foreign': {
        const isThere = nodes.get(PATH) !== undefined
        if (each.what === 'delete' && isThere) nodes.delete(PATH)
        const data = each.what === 'write' ? stored(++this.#last) : ''
        if (each.what === 'delete') return
        if (isThere) nodes.setData(PATH, data)
        else nodes.create(PATH, { data })
        return
      }
      case 'pass':
    }
  }

  async #resize(zk: ZooKeeper, timeout: number): Promise<void> {
    const number = ++this.#last
    const called = this.#now
    this.#pending++
    try {
      await semaphoreOf(zk).resize(number, { timeout })
      const during = this.#list.filter(({ at }) => at >= called)
      const isStored = during.some(({ permits, session }) => permits === number && session === zk.session.id)
      // If an answer was lost and the node has changed since, that change was this one, or came after it.
      const mayBeReplaced = this.#lost.some((at) => at >= called) && during.length > 0
      if (!isStored && !mayBeReplaced) this.#wrong.push(`resize to ${number} resolves, and stores nothing`)
    } catch (error) {
      const isLate = KeeperError.is(error, 'RequestTimeout') && error.path === PATH && this.#now >= called + timeout
      if (!isLate) this.#wrong.push(`resize rejects with ${String(error)}`)
      if (KeeperError.is(error) && !error.outcomeUnknown) this.#never.add(number)
    }
    this.#pending--
  }

  /** What is read was stored at some moment of the call. */
  async #read(zk: ZooKeeper): Promise<void> {
    const called = this.#now
    const before = this.#list.findLast(({ at }) => at < called)?.permits
    this.#pending++
    const read = await semaphoreOf(zk).permits()
    const valid = [before, ...this.#list.filter(({ at }) => at >= called).map(({ permits }) => permits)]
    if (!valid.includes(read)) this.#wrong.push(`permits is ${read}, not one of ${valid.join(', ')}`)
    this.#pending--
  }

  get #now(): number {
    return this.#scene.world.wallNow()
  }

  /** The plain list: every write of the node, in the order of the servers. */
  get #list(): readonly Write[] {
    return this.#scene.ensemble.committedAfter(0n)!.flatMap(({ header: { sessionId: session, time: at }, txn }) => {
      if (!('path' in txn) || txn.path !== PATH) return []
      if (txn.type === 'delete') return [{ at, session, permits: undefined }]
      const isWrite = txn.type === 'create' || txn.type === 'setData'
      return isWrite ? [{ at, session, permits: numberIn(txn.data) }] : []
    })
  }
}

function numberIn(data: Uint8Array | null): number | undefined {
  return data?.length === 4 ? Buffer.from(data).readInt32BE(0) : undefined
}

test('Semaphore.resize and permits do what a list of all writes says, whatever is lost', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(1_000), fc.array(step, { maxLength: 30, size: 'max' }), async (seed, steps) => {
      expect(await (await Beside.begin(seed)).play(steps)).toEqual([])
    }),
    { numRuns: RUNS },
  )
})
