// What other clients' changes guarantee to a reader of real servers: the recipes rest on it, and no single session shows it.
import { expect, test } from 'vitest'
import { type Acquirable, type Held, Lock, MultiLock, Semaphore, type ZooKeeper } from '@zk/recipes'
import { caughtUp, newChroot, newClient, refusal } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'

const text = (data: Uint8Array): string => new TextDecoder().decode(data)

describeEnsemble('The order of reads, events and changes of other clients', (ensemble) => {
  const askings: [what: string, at: 'followers' | 'nodes', (zk: ZooKeeper) => Promise<unknown>][] = [
    ['sync, at a follower', 'followers', (zk) => zk.sync('/counter')],
    ['a write that fails, at any server', 'nodes', (zk) => refusal(zk.delete('/no-such-node'))],
  ]
  test.each(askings)('ZooKeeper.getData sees all earlier writes after %s', async (_, where, ask) => {
    const chroot = await newChroot(ensemble)
    const writers = await Promise.all(ensemble.nodes.map((at) => newClient(ensemble, { chroot, at })))
    const servers = where === 'nodes' ? ensemble.nodes : await ensemble.followers()
    const readers = await Promise.all(servers.map((at) => newClient(ensemble, { chroot, at })))
    await writers[0]!.create('/counter', '0')
    for (let count = 1; count <= 60; count++) {
      await writers[count % writers.length]!.setData('/counter', String(count))
      const reads = await Promise.all(
        readers.map(async (reader) => {
          const [, read] = await Promise.all([ask(reader), reader.getData('/counter')])
          return text(read.data)
        }),
      )
      expect(reads).toEqual(readers.map(() => String(count)))
    }
  })

  test('Watched.changed resolves before a read shows the change of another client', async () => {
    const chroot = await newChroot(ensemble)
    const [zk, other] = await Promise.all([newClient(ensemble, { chroot }), newClient(ensemble, { chroot })])
    await zk.create('/node')
    for (let round = 0; round < 50; round++) {
      let notified = false
      const { changed, stat } = await zk.getDataAndWatch('/node')
      void changed.then(() => (notified = true))
      const writing = other.setData('/node', 'changed')
      for (let shown = false; !shown;) {
        const read = await zk.getData('/node')
        shown = read.stat.version > stat.version
        expect(notified).toBe(shown)
      }
      await writing
    }
  })

  test.each<[string, (zk: ZooKeeper) => Pick<Acquirable<Held>, 'acquire'>]>([
    ['Lock', (zk) => new Lock(zk, '/new')],
    ['MultiLock', (zk) => new MultiLock(zk, ['/new', '/other'])],
    ['Semaphore', (zk) => new Semaphore(zk, '/new', { permits: 2 })],
  ])('%s.acquire has the czxid of its nodes as its token, on a new path and on an old one', async (_, recipe) => {
    const chroot = await newChroot(ensemble)
    const [zk, other] = await Promise.all([newClient(ensemble, { chroot }), newClient(ensemble, { chroot })])
    const acquirable = recipe(zk)
    for (let turn = 0; turn < 2; turn++) {
      const held = await acquirable.acquire()
      await caughtUp(other)
      for (const path of held.paths) expect((await other.exists(path))?.czxid).toBe(held.fencingToken)
      await held.release()
    }
  })
})
