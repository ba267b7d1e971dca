import { afterEach, describe, expect, test } from 'vitest'
import { op } from '@zk/client'
import { until } from '../src/ensemble/index.ts'
import { caughtUp, newChroot, newClient, newProxy } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { noWatches, serverWatches } from './support/server-watches.ts'
import { StreamLog } from './support/stream-log.ts'
import { noteOddities, WatchLog } from './support/watch-log.ts'

describeEnsemble('persistent watches', (ensemble) => {
  test('ZooKeeper.watch delivers every change of a node, and with recursive of all nodes below it (V07)', async () => {
    const zk = await newClient(ensemble)
    const [node, tree, root] = [
      new StreamLog(await zk.watch('/a')),
      new StreamLog(await zk.watch('/a', { recursive: true })),
      new StreamLog(await zk.watch('/', { recursive: true })),
    ]
    const anomalies = noteOddities()
    await zk.create('/a')
    await zk.setData('/a', 'x')
    await zk.multi([op.create('/a/b'), op.setData('/a/b', 'y'), op.delete('/a/b')])
    await zk.delete('/a')
    await caughtUp(zk)
    const below = ['NodeCreated /a/b', 'NodeDataChanged /a/b', 'NodeDeleted /a/b']
    const all = ['NodeCreated /a', 'NodeDataChanged /a', ...below, 'NodeDeleted /a']
    expect([tree.take(), root.take()]).toEqual([all, all])
    expect(node.take()).toEqual([
      'NodeCreated /a',
      'NodeDataChanged /a',
      'NodeChildrenChanged /a',
      'NodeChildrenChanged /a',
      'NodeDeleted /a',
    ])
    expect(anomalies).toEqual([])
  })

  test('ZooKeeper notifies all watchers of one path of every event they need, in whatever order they come and go', async () => {
    const zk = await newClient(ensemble)
    await zk.create('/a')
    const singles = new WatchLog()
    const plain = await zk.watch('/a')
    const plainLog = new StreamLog(plain)
    singles.note(await zk.getDataAndWatch('/a'))
    singles.note(await zk.getChildrenAndWatch('/a'))
    const recursive = await zk.watch('/a', { recursive: true })
    const recursiveLog = new StreamLog(recursive)
    singles.note(await zk.existsAndWatch('/a'))
    await zk.setData('/a', '1')
    await zk.create('/a/b')
    await zk.setData('/a', '2')
    await caughtUp(zk)
    expect(singles.take()).toEqual(['NodeChildrenChanged /a', 'NodeDataChanged /a', 'NodeDataChanged /a'])
    expect(plainLog.take()).toEqual(['NodeDataChanged /a', 'NodeChildrenChanged /a', 'NodeDataChanged /a'])
    expect(recursiveLog.take()).toEqual(['NodeDataChanged /a', 'NodeCreated /a/b', 'NodeDataChanged /a'])
    singles.note(await zk.getDataAndWatch('/a'))
    singles.note(await zk.getChildrenAndWatch('/a'))
    await recursive.return()
    await zk.delete('/a/b')
    await zk.setData('/a', '3')
    await caughtUp(zk)
    expect(singles.take()).toEqual(['NodeChildrenChanged /a', 'NodeDataChanged /a'])
    expect(plainLog.take()).toEqual(['NodeChildrenChanged /a', 'NodeDataChanged /a'])
    singles.note(await zk.getDataAndWatch('/a'))
    await plain.return()
    await zk.setData('/a', '4')
    await zk.setData('/a', '5')
    await caughtUp(zk)
    expect(singles.take()).toEqual(['NodeDataChanged /a'])
    expect(await serverWatches(ensemble, zk.chroot)).toEqual(noWatches)
  })

  test('NodeEvents leaves no watch on the server when its loop is left, or it is aborted or removed', async () => {
    const zk = await newClient(ensemble)
    const controller = new AbortController()
    const left = await zk.watch('/left', { recursive: true })
    const aborted = new StreamLog(await zk.watch('/aborted', { signal: controller.signal }))
    const removed = new StreamLog(await zk.watch('/removed'))
    expect(await serverWatches(ensemble, zk.chroot)).toEqual({ data: ['/aborted', '/left', '/removed'], children: 3 })
    await zk.create('/left')
    for await (const { type } of left) {
      expect(type).toBe('NodeCreated')
      break
    }
    controller.abort()
    await zk.removeWatches('/removed', 'Persistent')
    await caughtUp(zk)
    expect(await serverWatches(ensemble, zk.chroot)).toEqual(noWatches)
    expect([aborted.take(), removed.take()]).toEqual([[], ['PersistentWatchRemoved /removed']])
  })

  test('NodeEvents whose events were lost with the connection has a Gap, and then misses nothing (V06)', async () => {
    const chroot = await newChroot(ensemble)
    const proxy = await newProxy(ensemble.nodes[0]!)
    const zk = await newClient(ensemble, { chroot, servers: [proxy] })
    // The server knows what it has done.
    const other = await newClient(ensemble, { chroot, servers: [ensemble.nodes[0]!] })
    await other.create('/a')
    await caughtUp(zk)
    const log = new StreamLog(await zk.watch('/', { recursive: true }))
    const singles = new WatchLog()
    singles.note(await zk.getDataAndWatch('/a'))
    proxy.freeze()
    proxy.cut()
    await until('the loss', async () => zk.session.connection === undefined)
    await other.setData('/a', 'missed')
    proxy.thaw()
    await caughtUp(zk)
    expect(log.take()).toEqual(['Gap reconnected'])
    expect(singles.take()).toEqual(['NodeDataChanged /a'])
    await other.setData('/a', 'seen')
    await caughtUp(zk)
    expect(log.take()).toEqual(['NodeDataChanged /a'])
  })

  test('NodeEvents goes on in the next session, behind a Gap', async () => {
    const chroot = await newChroot(ensemble)
    const proxy = await newProxy(ensemble.nodes[0]!)
    const zk = await newClient(ensemble, { chroot, servers: [proxy], sessionTimeout: 4_000 })
    const other = await newClient(ensemble, { chroot })
    const log = new StreamLog(await zk.watch('/', { recursive: true }))
    const { session } = zk
    proxy.freeze()
    proxy.cut()
    await until('the end of the session', async () => session.signal.aborted)
    proxy.thaw()
    await until('the Gap', async () => log.last === 'Gap renewed')
    await other.create('/a')
    await caughtUp(zk)
    expect(log.take()).toEqual(['Gap renewed', 'NodeCreated /a'])
    expect(await serverWatches(ensemble, chroot)).toEqual({ data: ['/'], children: 1 })
  })

  describe('and their server', () => {
    afterEach(() => ensemble.mend())

    test('NodeEvents whose server is killed shows by its Gap, and the reads after it, the whole state (V06)', async () => {
      const chroot = await newChroot(ensemble)
      const [follower] = await ensemble.followers()
      const zk = await newClient(ensemble, { chroot, at: follower!, sessionTimeout: 8_000 })
      const other = await newClient(ensemble, {
        chroot,
        servers: ensemble.nodes.filter((node) => node !== follower),
        sessionTimeout: 8_000,
      })
      await other.create('/n', '0')
      await caughtUp(zk)
      // A cache of one value, as in a typical program.
      let cached = ''
      const events = await zk.watch('/n')
      const follow = async () => {
        cached = new TextDecoder().decode((await zk.getData('/n')).data)
        for await (const _ of events) cached = new TextDecoder().decode((await zk.getData('/n')).data)
      }
      const following = follow()
      for (let n = 1; n <= 20; n++) {
        if (n === 7) await follower!.kill()
        await other.setData('/n', String(n))
      }
      await until('the last value', async () => cached === '20')
      await events.return()
      await following
    })
  })
})
