// Everything that was begun, or reported, before a barrier is read when the barrier is passed, in whichever order events and lists come.
import type { ZooKeeper } from '@zk/client'
import { describe, expect, test } from 'vitest'
import { Copy } from '../../src/mirror/copy.ts'
import { Epochs } from '../../src/mirror/epochs.ts'
import { MirroredPaths } from '../../src/mirror/mirrored-paths.ts'
import { Pace } from '../../src/mirror/pace.ts'
import { type Job, Needs, ReadQueue } from '../../src/mirror/read-queue.ts'
import { statOf } from '../support/mirrors.ts'

interface Reading {
  readonly job: Job
  readonly settle: { done(): void; fail(error: unknown): void }
}

/** A queue whose reads are answered by the test. The copy has these nodes. */
class Scene {
  readonly copy = new Copy('/a', { maxNodes: 10_000, maxBytes: 100_000_000 })
  readonly epochs = new Epochs()
  readonly queue: ReadQueue
  readonly #reading = new Map<string, Reading>()
  readonly failures: unknown[] = []

  constructor(...paths: readonly string[]) {
    for (const path of ['/a', ...paths]) this.put(path)
    const zk = { chroot: '/' } as ZooKeeper
    const inside = new MirroredPaths(zk, '/a', { depth: Infinity, filter: undefined })
    this.queue = new ReadQueue(this.copy, inside, this.epochs)
  }

  /** A session begins. */
  async start(most = 1): Promise<void> {
    const read = (jobs: readonly Job[]) =>
      new Promise<void>((done, fail) => {
        for (const job of jobs) this.#reading.set(job.path, { job, settle: { done, fail } })
      })
    const reader = { most, read }
    this.queue.start({ reader, fail: (error) => this.failures.push(error), pace: new Pace(), now: () => 0 })
    await this.settle()
  }

  put(path: string, data = new Uint8Array()): void {
    this.copy.put(path, statOf(1), data)
  }

  get paths(): string[] {
    return [...this.#reading.keys()].sort()
  }

  job(path: string): Job {
    return this.#reading.get(path)!.job
  }

  async done(path: string): Promise<void> {
    this.#take(path).settle.done()
    await this.settle()
  }

  async fail(path: string): Promise<void> {
    this.#take(path).settle.fail(new Error('the session has ended'))
    await this.settle()
  }

  /** Whether all that has begun until now is done. */
  barrier(): { readonly isPassed: boolean } {
    const state = { isPassed: false }
    this.epochs.barrier(() => {
      state.isPassed = true
    })
    return state
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  }

  #take(path: string): Reading {
    const reading = this.#reading.get(path)!
    this.#reading.delete(path)
    return reading
  }
}

describe('A barrier behind the begin of a comparison', () => {
  test('Epochs.barrier waits for a new child whose event came before the list with its name', async () => {
    const scene = new Scene()
    await scene.start()
    const barrier = scene.barrier()
    scene.queue.report('/a/b', Needs.data)
    await scene.settle()
    expect(scene.paths).toEqual(['/a', '/a/b'])
    scene.queue.addChildren(scene.job('/a'), ['b'])
    await scene.done('/a')
    expect(barrier.isPassed).toBe(false)
    await scene.done('/a/b')
    expect(barrier.isPassed).toBe(true)
  })

  test('Epochs.barrier waits for a new child whose event came between the list and the read of its name', async () => {
    const scene = new Scene()
    await scene.start()
    const barrier = scene.barrier()
    scene.queue.addChildren(scene.job('/a'), ['b'])
    scene.queue.report('/a/b', Needs.data)
    await scene.done('/a')
    expect(scene.paths).toEqual(['/a/b'])
    expect(barrier.isPassed).toBe(false)
    await scene.done('/a/b')
    expect(barrier.isPassed).toBe(true)
  })

  test('Epochs.barrier waits for what is below a child that an event has added before the list', async () => {
    const scene = new Scene()
    await scene.start()
    const barrier = scene.barrier()
    scene.queue.report('/a/b', Needs.data)
    await scene.settle()
    scene.put('/a/b')
    scene.queue.addChildren(scene.job('/a/b'), ['c'])
    await scene.done('/a/b')
    expect(scene.paths).toEqual(['/a', '/a/b/c'])
    scene.queue.addChildren(scene.job('/a'), [])
    await scene.done('/a')
    expect(barrier.isPassed).toBe(false)
    await scene.done('/a/b/c')
    expect(barrier.isPassed).toBe(true)
  })

  test('Epochs.barrier waits for what is below a child that an event has added while the list waited', async () => {
    const scene = new Scene()
    await scene.start()
    const barrier = scene.barrier()
    const many = Array.from({ length: 300 }, (_, number) => `n${number}`)
    scene.queue.addChildren(scene.job('/a'), [...many, 'z'])
    await scene.done('/a')
    scene.queue.report('/a/z', Needs.data)
    await scene.done('/a/n0')
    scene.put('/a/z')
    scene.queue.addChildren(scene.job('/a/z'), ['c'])
    await scene.done('/a/z')
    while (scene.paths.length > 1) await scene.done(scene.paths.find((path) => path.startsWith('/a/n'))!)
    expect(scene.paths).toEqual(['/a/z/c'])
    expect(barrier.isPassed).toBe(false)
    await scene.done('/a/z/c')
    expect(barrier.isPassed).toBe(true)
  })

  test('Epochs.barrier waits for a read of an event that is a part of older work, too', async () => {
    const scene = new Scene('/a/b')
    await scene.start()
    await scene.done('/a/b')
    const barrier = scene.barrier()
    scene.queue.report('/a/b', Needs.data)
    scene.queue.enqueue('/a/b', Needs.list, scene.job('/a').epoch)
    await scene.done('/a')
    expect(barrier.isPassed).toBe(false)
    await scene.done('/a/b')
    expect(barrier.isPassed).toBe(true)
  })

  test('Epochs.barrier waits for no read beside the list', async () => {
    const scene = new Scene('/a/b', '/a/bc')
    await scene.start()
    for (const path of ['/a', '/a/b', '/a/bc']) await scene.done(path)
    scene.queue.enqueue('/a/b', Needs.list)
    await scene.settle()
    const barrier = scene.barrier()
    scene.queue.report('/a/bc', Needs.data)
    await scene.settle()
    scene.queue.addChildren(scene.job('/a/b'), [])
    await scene.done('/a/b')
    expect(barrier.isPassed).toBe(true)
    expect(scene.paths).toEqual(['/a/bc'])
  })

  test('Epochs.barrier waits for the comparison of a node that is read just now', async () => {
    const scene = new Scene('/a/b')
    await scene.start()
    for (const path of ['/a', '/a/b']) await scene.done(path)
    scene.queue.report('/a/b', Needs.data)
    await scene.settle()
    scene.queue.compareAll()
    const barrier = scene.barrier()
    await scene.settle()
    await scene.done('/a')
    await scene.done('/a/b')
    expect(scene.job('/a/b').needs).toBe(Needs.comparison)
    expect(barrier.isPassed).toBe(false)
    await scene.done('/a/b')
    expect(barrier.isPassed).toBe(true)
  })

  test.each([
    ['its only barrier', 0],
    ['a later barrier', 1],
    ['two later barriers', 2],
  ])(
    'Epochs.barrier waits for the comparison of a node that was reported twice behind %s before its turn came',
    async (_, later) => {
      // More nodes than are compared at a time.
      const nodes = Array.from({ length: 300 }, (_, number) => `/a/n${number}`)
      const scene = new Scene(...nodes)
      const compareAllBut = async (path?: string) => {
        for (;;) {
          const other = scene.paths.find((each) => each !== path)
          if (other === undefined) return
          await scene.done(other)
        }
      }
      await scene.start()
      await compareAllBut()
      scene.queue.compareAll()
      const barrier = scene.barrier()
      await scene.settle()
      const last = nodes.find((path) => !scene.paths.includes(path))!
      for (let nth = 1; nth <= 2; nth++) {
        scene.queue.report(last, Needs.data)
        await scene.settle()
        while (!scene.paths.includes(last)) await scene.done(scene.paths[0]!)
        for (let each = 0; each < later; each++) scene.barrier()
      }
      await compareAllBut(last)
      for (let read = 1; read <= 2; read++) {
        expect(barrier.isPassed).toBe(false)
        await scene.done(last)
      }
      expect(barrier.isPassed).toBe(true)
      expect(scene.paths).toEqual([])
    },
  )

  test('Epochs.barrier waits for a node that is read again as a part of its job', async () => {
    const scene = new Scene()
    await scene.start()
    const barrier = scene.barrier()
    const job = scene.job('/a')
    scene.queue.enqueue('/a', Needs.data, job.epoch)
    await scene.done('/a')
    expect(barrier.isPassed).toBe(false)
    await scene.done('/a')
    expect(barrier.isPassed).toBe(true)
  })

  test('Epochs.barrier waits for the comparison of a node that was read when the session ended', async () => {
    const scene = new Scene('/a/b')
    await scene.start()
    for (const path of ['/a', '/a/b']) await scene.done(path)
    scene.queue.compareAll()
    const barrier = scene.barrier()
    scene.queue.report('/a/b', Needs.data)
    await scene.settle()
    await scene.done('/a')
    scene.queue.stop()
    await scene.fail('/a/b')
    expect(barrier.isPassed).toBe(false)
    await scene.start()
    for (const path of ['/a', '/a/b']) await scene.done(path)
    expect(barrier.isPassed).toBe(true)
  })

  test('Epochs.barrier waits for the next session if one ends', async () => {
    const scene = new Scene('/a/b')
    await scene.start()
    const barrier = scene.barrier()
    // A part of older work, and an event.
    scene.queue.enqueue('/a/b', Needs.data, scene.job('/a').epoch)
    scene.queue.report('/a', Needs.data)
    scene.queue.stop()
    for (const path of ['/a', '/a/b']) await scene.fail(path)
    expect(scene.failures).toHaveLength(2)
    expect(barrier.isPassed).toBe(false)
    await scene.start()
    for (const path of ['/a', '/a/b']) {
      expect(barrier.isPassed).toBe(false)
      await scene.done(path)
    }
    expect(scene.paths).toEqual([])
    expect(barrier.isPassed).toBe(true)
    expect(scene.barrier().isPassed).toBe(true)
  })
})

test('ReadQueue compares the nodes that it has before it reads new ones: those that are gone make room', async () => {
  const many = Array.from({ length: 300 }, (_, number) => `/a/n${number}`)
  const scene = new Scene(...many)
  await scene.start()
  scene.queue.addChildren(scene.job('/a'), ['new'])
  await scene.done('/a')
  const order: string[] = []
  while (scene.paths.length > 0) {
    order.push(scene.paths.includes('/a/new') ? 'new' : 'known')
    await scene.done(scene.paths.find((path) => path !== '/a/new') ?? '/a/new')
  }
  // It is read as soon as the last of the others is under way: of 128 that are compared at once by then.
  expect(order.indexOf('new')).toBe(many.length - 127)
})

test.each([
  ['small', 100, 32, 5_000],
  ['of 4 KiB', 4 * 1024, 32, 966],
  ['of 100 KiB', 100 * 1024, 32, 256],
  ['small, and each needs a request of its own', 100, 1, 256],
])('ReadQueue reads as many new nodes at once as have 4 MiB, but at least 256: %s', async (_, size, most, expected) => {
  const scene = new Scene()
  for (let n = 0; n < 255; n++) scene.put(`/a/${n}`, new Uint8Array(size))
  await scene.start(most)
  const names = Array.from({ length: 5_000 }, (_, number) => `n${number}`)
  scene.queue.addChildren(scene.job('/a'), names)
  for (
    let path: string | undefined = '/a';
    path !== undefined;
    path = scene.paths.find((each) => !each.includes('n'))
  ) {
    await scene.done(path)
  }
  expect(scene.paths).toHaveLength(expected)
  // What is reported is read first.
  scene.queue.report('/a/0', Needs.data)
  await scene.settle()
  expect(scene.paths.includes('/a/0')).toBe(false)
  for (const path of scene.paths) await scene.done(path)
  expect(scene.paths.includes('/a/0')).toBe(true)
})
