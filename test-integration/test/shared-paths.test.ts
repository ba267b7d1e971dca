import { expect, test } from 'vitest'
import { KeeperError, type ZooKeeper } from '@zk/client'
import { Random } from '../src/random.ts'
import { caughtUp, newChroot, newClient, newProxy } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { noWatches, serverWatches } from './support/server-watches.ts'
import { Watchers } from './support/watchers.ts'

const ROUNDS = 150
const TURNS = 8
const paths = ['/a', '/a/x', '/b']
const children = ['/a/x', '/a/y', '/a/x/z', '/b/y']

describeEnsemble('watches of all kinds on the same nodes', (ensemble) => {
  test.each([1, 2, 3])(
    'ZooKeeper leaves no caller waiting for an event that has happened, and no watch on the servers (seed %i)',
    async (seed) => {
      const random = new Random(seed)
      const chroot = await newChroot(ensemble)
      const proxy = await newProxy(ensemble.nodes[seed % ensemble.nodes.length]!)
      const zk = await newClient(ensemble, { chroot, servers: [proxy], sessionTimeout: 10_000 })
      const other = await newClient(ensemble, { chroot })
      await Promise.all(['/a', '/b'].map((path) => other.create(path)))
      const watchers = new Watchers(zk, paths, random)
      for (let round = 0; round < ROUNDS; round++) {
        const changes: Promise<void>[] = []
        for (let turn = 0; turn < TURNS; turn++) {
          watchers.turn()
          if (random.percent(40)) changes.push(change(other, random))
          for (let wait = random.below(6); wait > 0; wait--) await new Promise<void>((resolve) => setImmediate(resolve))
          if (random.percent(10)) await zk.exists('/')
        }
        if (random.percent(5)) proxy.cut()
        await Promise.all([watchers.settled(), ...changes])
        await caughtUp(zk)
        expect(await watchers.missed(other), `round ${round}`).toEqual([])
      }

      for (const { log } of watchers.following) log.take()
      for (const path of ['/a', '/b']) await other.setData(path, 'last')
      await caughtUp(zk)
      expect(await watchers.missed(other)).toEqual([])
      // Without any event the test would prove nothing.
      expect(watchers.notified).toBeGreaterThan(ROUNDS)
      for (const { path, log } of watchers.following) {
        if (path !== '/a/x') expect(log.take()).toContain(`NodeDataChanged ${path}`)
      }

      await watchers.leave()
      await caughtUp(zk)
      expect(await serverWatches(ensemble, chroot)).toEqual(noWatches)
    },
  )
})

/** Changes one of the nodes at random. */
async function change(zk: ZooKeeper, random: Random): Promise<void> {
  const child = random.pick(children)
  try {
    const what = random.weighted({ set: 50, create: 30, delete: 20 })
    if (what === 'set') await zk.setData(random.pick(paths), `${random.below(1_000)}`)
    else if (what === 'create') await zk.create(child)
    else await zk.delete(child)
  } catch (error) {
    if (!KeeperError.is(error, 'NoNode', 'NodeExists', 'NotEmpty')) throw error
  }
}
