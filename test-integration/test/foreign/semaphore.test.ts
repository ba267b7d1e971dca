import { setTimeout as sleep } from 'node:timers/promises'
import { Semaphore } from '@zk/recipes'
import { expect, test } from 'vitest'
import { until } from '../../src/ensemble/index.ts'
import { machineTime } from '../../src/history/index.ts'
import { connected, describeForeign, type Tests, type TestWorld, type World } from './world.ts'

const PATH = '/semaphore'
const TURNS = 15

/** So many permits, held from a time on and until another. */
interface Taken {
  readonly count: number
  readonly from: number
  readonly until: number
}

/** The most permits that were held at a time. */
function mostAtOnce(all: readonly Taken[]): number {
  const held = (at: number) => all.filter(({ from, until }) => from <= at && at < until)
  return Math.max(...all.map(({ from }) => held(from).reduce((sum, { count }) => sum + count, 0)))
}

const anywhere: Tests<World> = (world) => {
  test('Semaphore and InterProcessSemaphoreV2 exclude each other, whichever comes first', async () => {
    const { curator, zk } = await world()
    const theirs = await curator()
    const semaphore = new Semaphore(zk, PATH, { permits: 2 })
    const first = await semaphore.acquire()
    expect(await theirs.call('acquirePermits', PATH, 2, 1, 5_000)).toBe(true)
    expect(await semaphore.tryAcquire()).toBeUndefined()
    expect((await semaphore.holders()).map(({ permit }) => permit)).toEqual([0, undefined])
    // Now theirs waits for ours.
    const other = await curator()
    const waits = other.call('acquirePermits', PATH, 2, 1)
    await until('it to take a lease and wait', async () => (await semaphore.holders()).length === 3)
    await first.release()
    expect(await waits).toBe(true)
    // And ours for theirs.
    const next = semaphore.acquire()
    await until('ours to wait', async () => (await semaphore.contenders()).length === 1)
    await other.call('releasePermits', PATH)
    const held = await next
    expect(held.permit).toBe(0)
    await theirs.call('releasePermits', PATH)
    await held.release()
    await until('leases to be empty', async () => (await semaphore.holders()).length === 0)
  })

  test('Semaphore and InterProcessSemaphoreV2 stand in one line (P13)', async () => {
    const { curator, zk } = await world()
    const [one, two] = await Promise.all([curator(), curator()])
    const semaphore = new Semaphore(zk, PATH, { permits: 1 })
    const first = await semaphore.acquire()
    const order: string[] = []
    const theirs = one.call('acquirePermits', PATH, 1, 1).then(() => order.push('one'))
    await until('the first to queue', async () => (await semaphore.contenders()).length === 1)
    const ours = semaphore.acquire().then((held) => (order.push('ours'), held))
    await until('ours to queue', async () => (await semaphore.contenders()).length === 2)
    const last = two.call('acquirePermits', PATH, 1, 1).then(() => order.push('two'))
    await until('the last to queue', async () => (await semaphore.contenders()).length === 3)
    await first.release()
    await theirs
    await one.call('releasePermits', PATH)
    await (await ours).release()
    await last
    await two.call('releasePermits', PATH)
    expect(order).toEqual(['one', 'ours', 'two'])
  })

  test('Semaphore stores its number of permits where SharedCount reads it, and both follow a resize', async () => {
    const { curator, zk } = await world()
    const [theirs, other] = await Promise.all([curator(), curator()])
    const semaphore = new Semaphore(zk, PATH, { permits: 1 })
    const held = await semaphore.acquire()
    await theirs.call('followPermits', PATH)
    expect(await theirs.call('acquirePermits', PATH, 0, 1, 500)).toBe(false)
    await semaphore.resize(2)
    // It waits until its watch has told it.
    expect(await theirs.call('acquirePermits', PATH, 0, 1, 30_000)).toBe(true)
    // What SharedCount writes is followed by ours: 3 in four bytes.
    const third = semaphore.acquire()
    await until('ours to wait', async () => (await semaphore.contenders()).length === 1)
    await zk.setData(PATH, Uint8Array.of(0, 0, 0, 3))
    await (await third).release()
    await other.call('followPermits', PATH)
    expect(await other.call('acquirePermits', PATH, 0, 1, 30_000)).toBe(true)
    await held.release()
  })

  test('Semaphore and InterProcessSemaphoreV2 never have more than the permits together while the servers they are at are killed', async () => {
    const { servers, zk, curator, root } = await world()
    const permits = 3
    const theirs = await Promise.all([curator(), curator()])
    const semaphore = new Semaphore(zk, PATH, { permits })
    await (await semaphore.acquire()).release()
    const foreign = theirs.map(async (each) => {
      const history = await each.call<[string, string, string][]>('takePermits', PATH, permits, TURNS)
      return history.map(([, from, end]) => ({ count: 1, from: Number(from) / 1e6, until: Number(end) / 1e6 }))
    })
    let killed = 0
    let turns = 0
    const work = async (worker: number): Promise<Taken[]> => {
      const taken: Taken[] = []
      for (let turn = 1; turn <= TURNS; turn++) {
        const held = await semaphore.acquire({ count: 1 + ((turn + worker) % 2) })
        const from = machineTime()
        await sleep(5)
        const end = machineTime()
        if (held.isHeld()) taken.push({ count: held.count, from, until: end })
        await held.release()
        if (++turns % 12 !== 0) continue
        const at = zk.session.connection?.server
        if (at === undefined) continue
        await servers.mend()
        await servers.kill(at)
        killed++
      }
      return taken
    }
    const all = (await Promise.all([work(0), work(1), ...foreign])).flat()
    expect(all.length).toBeGreaterThan(3 * TURNS)
    expect(mostAtOnce(all), root).toBeLessThanOrEqual(permits)
    expect(killed).toBeGreaterThan(0)
    // Servers delete the parent of the leases, which is a container, when it has been empty for a while.
    const leases = () => connected(() => zk.exists(`${PATH}/leases`))
    await until('leases to be empty', async () => ((await leases())?.numChildren ?? 0) === 0)
  })
}

const atTestEnsemble: Tests<TestWorld> = (world) => {
  test('Semaphore waits for a permit of Curator whose session expires, and gets it', async () => {
    const { ensemble, curator, zk } = await world()
    const theirs = await curator()
    expect(await theirs.call('acquirePermits', PATH, 1, 1, 5_000)).toBe(true)
    const acquiring = new Semaphore(zk, PATH, { permits: 1 }).acquire()
    ensemble.sessions.expire(BigInt(`0x${theirs.session}`))
    expect((await acquiring).isHeld()).toBe(true)
    await (await acquiring).release()
  })
}

describeForeign('Semaphore beside Curator', 'real servers', { anywhere, atTestEnsemble })
