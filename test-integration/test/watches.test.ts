import { isDeepStrictEqual } from 'node:util'
import { afterEach, describe, expect, test } from 'vitest'
import { op } from '@zk/client'
import { parseMntr, parseWchs, until } from '../src/ensemble/index.ts'
import { OpCode } from '../src/proxy/index.ts'
import { caughtUp, newChroot, newClient, newProxy, nodeOf, rejection } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { noWatches, serverWatches } from './support/server-watches.ts'
import { noteOddities, WatchLog } from './support/watch-log.ts'

describeEnsemble('watches', (ensemble) => {
  describe('a watch', () => {
    test('ZooKeeper.getDataAndWatch delivers one event, of the first change of the data, or of the deletion', async () => {
      const zk = await newClient(ensemble)
      await Promise.all([zk.create('/changed', 'one'), zk.create('/deleted'), zk.create('/parent')])
      const log = new WatchLog()
      const anomalies = noteOddities()
      for (const path of ['/changed', '/deleted', '/parent']) log.note(await zk.getDataAndWatch(path))
      await zk.create('/parent/child')
      await zk.setACL('/parent', [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }])
      await zk.setData('/changed', 'two')
      await zk.setData('/changed', 'three')
      await zk.delete('/deleted')
      await caughtUp(zk)
      // Changes of children and of the ACL are no changes of data.
      expect(log.take()).toEqual(['NodeDataChanged /changed', 'NodeDeleted /deleted'])
      expect(await serverWatches(ensemble, zk.chroot)).toEqual({ data: ['/parent'], children: 0 })
      expect(anomalies).toEqual([])
    })

    test('ZooKeeper.existsAndWatch delivers one event, of a creation, a change of the data, or a deletion', async () => {
      const zk = await newClient(ensemble)
      await Promise.all([zk.create('/changed'), zk.create('/deleted'), zk.create('/parent')])
      const log = new WatchLog()
      for (const path of ['/missing', '/never', '/changed', '/deleted', '/parent']) {
        const { stat } = log.note(await zk.existsAndWatch(path))
        expect(stat === undefined).toBe(path === '/missing' || path === '/never')
      }
      await zk.create('/missing')
      await zk.setData('/missing', 'changed')
      await zk.setData('/changed', 'changed')
      await zk.delete('/changed')
      await zk.delete('/deleted')
      await zk.create('/parent/child')
      await caughtUp(zk)
      expect(log.take()).toEqual(['NodeCreated /missing', 'NodeDataChanged /changed', 'NodeDeleted /deleted'])
      expect(await serverWatches(ensemble, zk.chroot)).toEqual({ data: ['/never', '/parent'], children: 0 })
    })

    test('ZooKeeper.getChildrenAndWatch delivers one event, of a child created or deleted, or of the deletion', async () => {
      const zk = await newClient(ensemble)
      await Promise.all(['/came', '/went', '/deleted', '/quiet'].map((path) => zk.create(path)))
      await Promise.all([zk.create('/went/child'), zk.create('/quiet/child')])
      const log = new WatchLog()
      for (const path of ['/came', '/went', '/deleted', '/quiet']) log.note(await zk.getChildrenAndWatch(path))
      await zk.create('/came/one')
      await zk.create('/came/two')
      await zk.delete('/went/child')
      await zk.delete('/deleted')
      await zk.setData('/quiet', 'changed')
      await zk.setData('/quiet/child', 'changed')
      await zk.create('/quiet/child/child')
      await caughtUp(zk)
      expect(log.take()).toEqual(['NodeChildrenChanged /came', 'NodeChildrenChanged /went', 'NodeDeleted /deleted'])
      expect(await serverWatches(ensemble, zk.chroot)).toEqual({ data: [], children: 1 })
    })

    test('Watched.changed resolves before the reply that shows the change, for a change of another client', async () => {
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

    test('Watched.changed comes behind the result of its read, however close they are (V03)', async () => {
      const proxy = await newProxy(ensemble.nodes[0]!)
      const zk = await newClient(ensemble, { servers: [proxy] })
      await zk.create('/node', 'old')
      const order: string[] = []
      proxy.freeze('toClient')
      const reading = zk.getDataAndWatch('/node').then(({ changed, stat }) => {
        order.push(`version ${stat.version}`)
        return changed.then(({ type }) => order.push(type))
      })
      const writing = zk.setData('/node', 'new')
      await until('both replies held back', async () => proxy.replies.includes(OpCode.setData))
      proxy.thaw()
      await Promise.all([reading, writing])
      expect(order).toEqual(['version 0', 'NodeDataChanged'])
    })
  })

  describe('a watch that no caller waits for', () => {
    test('Watched.unwatch removes the watch from the server when no other caller of the client waits', async () => {
      const zk = await newClient(ensemble)
      await zk.create('/node')
      const log = new WatchLog()
      const [one, other] = await Promise.all([zk.getDataAndWatch('/node'), zk.existsAndWatch('/node')])
      const child = log.note(await zk.getChildrenAndWatch('/node'))
      log.note(one)
      log.note(other)
      await one.unwatch()
      await one.changed
      expect(log.take()).toEqual(['DataWatchRemoved /node'])
      expect(await serverWatches(ensemble, zk.chroot)).toEqual({ data: ['/node'], children: 1 })
      // One data watch of the path is left, and its event comes.
      await zk.setData('/node', 'changed')
      expect(log.take()).toEqual(['NodeDataChanged /node'])
      await child.unwatch()
      expect(log.take()).toEqual(['ChildWatchRemoved /node'])
      expect(await serverWatches(ensemble, zk.chroot)).toEqual(noWatches)
    })

    test('ZooKeeper.getDataAndWatch that is aborted in flight leaves no watch (V11)', async () => {
      const proxy = await newProxy(ensemble.nodes[0]!)
      const zk = await newClient(ensemble, { servers: [proxy] })
      await zk.create('/node')
      const abort = new AbortController()
      proxy.freeze('toClient')
      const reads = [
        zk.getDataAndWatch('/node', { signal: abort.signal }),
        zk.getChildrenAndWatch('/node', { signal: abort.signal }),
        zk.existsAndWatch('/missing', { signal: abort.signal }),
        zk.getDataAndWatch('/missing', { signal: abort.signal }),
      ].map(rejection)
      await until('the replies held back', async () => proxy.replies.at(-1) === OpCode.getData)
      abort.abort(new Error('enough'))
      expect(new Set(await Promise.all(reads))).toEqual(new Set([abort.signal.reason]))
      expect(await serverWatches(ensemble, zk.chroot)).toEqual({ data: ['/missing', '/node'], children: 1 })
      proxy.thaw()
      await until('no watch', async () => isDeepStrictEqual(await serverWatches(ensemble, zk.chroot), noWatches), {
        timeout: 5_000,
        instead: async () => JSON.stringify(await serverWatches(ensemble, zk.chroot)),
      })
      await zk.exists('/node')
    })

    test('Watched.unwatch while disconnected: the watch is not set again (V12)', async () => {
      const proxy = await newProxy(ensemble.nodes[0]!)
      const zk = await newClient(ensemble, { servers: [proxy] })
      await Promise.all(['/one', '/two', '/three'].map((path) => zk.create(path)))
      const log = new WatchLog()
      const one = log.note(await zk.getDataAndWatch('/one'))
      log.note(await zk.getDataAndWatch('/two'))
      log.note(await zk.getDataAndWatch('/three'))
      const { connection } = zk.session
      proxy.freeze()
      proxy.cut()
      await until('the loss', async () => zk.session.connection === undefined)
      await one.unwatch()
      const removing = zk.removeWatches('/two')
      proxy.thaw()
      await removing
      expect(zk.session.connection).not.toBe(connection)
      expect(log.take()).toEqual(['DataWatchRemoved /one', 'DataWatchRemoved /two'])
      expect(await serverWatches(ensemble, zk.chroot)).toEqual({ data: ['/three'], children: 0 })
    })
  })

  describe('a watch and the connection', () => {
    test('Watched.changed whose event was lost with its connection comes on the next, once (V02)', async () => {
      const chroot = await newChroot(ensemble)
      const proxy = await newProxy(ensemble.nodes[0]!)
      const zk = await newClient(ensemble, { chroot, servers: [proxy] })
      const other = await newClient(ensemble, { chroot })
      const log = new WatchLog()
      const anomalies = noteOddities()
      await Promise.all([zk.create('/data'), zk.create('/parent')])
      log.note(await zk.getDataAndWatch('/data'))
      log.note(await zk.existsAndWatch('/missing'))
      log.note(await zk.getChildrenAndWatch('/parent'))
      const lost = proxy.loseReplyTo(OpCode.notification)
      await other.multi([op.setData('/data', 'x'), op.create('/missing'), op.create('/parent/child')])
      await lost
      await caughtUp(zk)
      expect(log.take()).toEqual(['NodeChildrenChanged /parent', 'NodeCreated /missing', 'NodeDataChanged /data'])
      expect(await serverWatches(ensemble, chroot)).toEqual(noWatches)
      expect(anomalies).toEqual([])
    })

    test('Watched.changed of one multi, cut off in the middle: the others come on the next connection, none twice (V05)', async () => {
      const chroot = await newChroot(ensemble)
      const proxy = await newProxy(ensemble.nodes[0]!)
      const zk = await newClient(ensemble, { chroot, servers: [proxy] })
      const other = await newClient(ensemble, { chroot })
      const log = new WatchLog()
      const anomalies = noteOddities()
      const paths = ['/1', '/2', '/3', '/4', '/5']
      await zk.multi(paths.map((path) => op.create(path)))
      for (const path of paths) log.note(await zk.getDataAndWatch(path))
      const lost = proxy.loseReplyTo(OpCode.notification, 3)
      await other.multi(paths.map((path) => op.setData(path, 'changed')))
      await lost
      await caughtUp(zk)
      expect(log.take()).toEqual(paths.map((path) => `NodeDataChanged ${path}`))
      expect(proxy.replies.filter((opCode) => opCode === OpCode.notification)).toHaveLength(5)
      expect(await serverWatches(ensemble, chroot)).toEqual(noWatches)
      expect(anomalies).toEqual([])
    })
  })

  describe('a watch and its server', () => {
    afterEach(() => ensemble.mend())

    test.each(['follower', 'leader'] as const)(
      'Watched.changed delivers once what happened while the client had no server: its %s was killed (V01)',
      async (mode) => {
        const chroot = await newChroot(ensemble)
        const leader = await ensemble.leader()
        const [one, two] = await ensemble.followers()
        const [first, next] = mode === 'leader' ? [leader, one!] : [one!, two!]
        const way = await newProxy(next)
        const zk = await newClient(ensemble, { chroot, servers: [first, way], at: first, sessionTimeout: 8_000 })
        // The next server has applied its changes.
        const other = await newClient(ensemble, { chroot, servers: [next], sessionTimeout: 8_000 })
        const existing = ['changed', 'deleted', 'renewed', 'quiet']
        await other.multi(
          ['data', 'exist', 'child'].flatMap((kind) => [
            op.create(`/${kind}`),
            ...existing.map((name) => op.create(`/${kind}/${name}`)),
          ]),
        )
        await other.create('/child/went')
        await other.create('/child/went/child')
        await caughtUp(zk)
        const log = new WatchLog()
        const anomalies = noteOddities()
        for (const name of existing) {
          log.note(await zk.getDataAndWatch(`/data/${name}`))
          log.note(await zk.existsAndWatch(`/exist/${name}`))
          log.note(await zk.getChildrenAndWatch(`/child/${name}`))
        }
        for (const name of ['created', 'fleeting', 'missing']) log.note(await zk.existsAndWatch(`/exist/${name}`))
        log.note(await zk.getChildrenAndWatch('/child/went'))
        const { id } = zk.session

        way.freeze()
        await first.kill()
        if (mode === 'leader') await ensemble.leader({ except: first })
        for (const kind of ['data', 'exist']) {
          await other.setData(`/${kind}/changed`, 'once')
          await other.setData(`/${kind}/changed`, 'twice')
        }
        await other.create('/child/changed/child')
        await other.delete('/child/went/child')
        for (const kind of ['data', 'exist', 'child']) {
          await other.delete(`/${kind}/deleted`)
          await other.delete(`/${kind}/renewed`)
          await other.create(`/${kind}/renewed`)
        }
        await other.create('/exist/created')
        await other.create('/exist/fleeting')
        await other.delete('/exist/fleeting')
        expect(log.take()).toEqual([])
        expect(zk.session.connection).toBeUndefined()

        // Aborted attempts would move the session to that server once more, each.
        way.cut()
        way.thaw()
        await caughtUp(zk)
        expect(zk.session.id).toBe(id)
        expect(zk.session.connection?.server).toBe(way.address)
        expect(log.take()).toEqual([
          'NodeChildrenChanged /child/changed',
          'NodeChildrenChanged /child/renewed',
          'NodeChildrenChanged /child/went',
          'NodeCreated /exist/created',
          'NodeDataChanged /data/changed',
          'NodeDataChanged /data/renewed',
          'NodeDataChanged /exist/changed',
          'NodeDataChanged /exist/renewed',
          'NodeDeleted /child/deleted',
          'NodeDeleted /data/deleted',
          'NodeDeleted /exist/deleted',
        ])

        // The others were set again.
        const quiet = ['/data/quiet', '/exist/fleeting', '/exist/missing', '/exist/quiet']
        expect(await serverWatches(ensemble, chroot)).toEqual({ data: quiet, children: 1 })
        await other.multi([
          op.create('/child/quiet/child'),
          op.setData('/data/quiet', 'changed'),
          op.create('/exist/fleeting'),
          op.create('/exist/missing'),
          op.delete('/exist/quiet'),
        ])
        await caughtUp(zk)
        expect(log.take()).toEqual([
          'NodeChildrenChanged /child/quiet',
          'NodeCreated /exist/fleeting',
          'NodeCreated /exist/missing',
          'NodeDataChanged /data/quiet',
          'NodeDeleted /exist/quiet',
        ])
        expect(await serverWatches(ensemble, chroot)).toEqual(noWatches)
        expect(anomalies).toEqual([])
      },
    )

    test('ZooKeeper sets 2,000 watches again at the next server, before it sends anything else (V04)', async () => {
      const chroot = await newChroot(ensemble)
      const [first, next] = await ensemble.followers()
      const way = await newProxy(next!)
      const zk = await newClient(ensemble, { chroot, servers: [first!, way], at: first!, sessionTimeout: 8_000 })
      const other = await newClient(ensemble, { chroot, servers: [next!], sessionTimeout: 8_000 })
      const anomalies = noteOddities()
      const paths = Array.from({ length: 2_000 }, (_, index) => `/${`${index}-`.padEnd(100, 'x')}`)
      for (let from = 0; from < paths.length; from += 500) {
        await zk.multi(paths.slice(from, from + 500).map((path) => op.create(path)))
      }
      const watched = await Promise.all(paths.map((path) => zk.getDataAndWatch(path)))
      expect(parseWchs(await first!.ask('wchs'))).toMatchObject({ paths: 2_000, watches: 2_000 })

      way.freeze()
      await first!.kill()
      await until('the loss', async () => zk.session.connection === undefined)
      // One of ten.
      const changed = paths.filter((_, index) => index % 10 === 0)
      await other.multi(changed.map((path) => op.setData(path, 'changed')))
      const asked = way.requests.length
      const read = zk.exists('/')
      way.cut()
      way.thaw()
      await read
      // 2,000 paths of 142 bytes, in chunks of at most 32 KiB.
      const { setWatches, exists } = OpCode
      const asking = way.requests.slice(asked)
      expect(asking.pop()).toBe(exists)
      expect(asking.length).toBeGreaterThanOrEqual(9)
      expect(new Set(asking)).toEqual(new Set([setWatches]))
      expect(parseWchs(await next!.ask('wchs'))).toMatchObject({ paths: 1_800, watches: 1_800 })
      const notified = await Promise.all(watched.filter((_, index) => index % 10 === 0).map((each) => each.changed))
      expect(notified.map(({ type, path }) => `${type} ${path}`)).toEqual(
        changed.map((path) => `NodeDataChanged ${path}`),
      )

      await Promise.all(watched.map((each) => each.unwatch()))
      expect(parseWchs(await next!.ask('wchs'))).toMatchObject({ paths: 0, watches: 0 })
      const outcomes = await Promise.all(watched.map((each) => each.changed))
      expect(outcomes.filter(({ type }) => type === 'DataWatchRemoved')).toHaveLength(1_800)
      expect(nodeOf(ensemble, other)).toBe(next)
      expect(anomalies).toEqual([])
    })
  })

  test('ZooKeeper.close leaves no watch on any server', async () => {
    for (const node of ensemble.nodes) {
      // The reply to closeSession may be here before the server has forgotten the connection (NIOServerCnxn.close).
      const kept = async () => {
        const { connections = -1, watches = -1 } = parseWchs(await node.ask('wchs')) ?? {}
        return [connections, watches, Number(parseMntr(await node.ask('mntr')).get('zk_watch_count'))]
      }
      const isNothing = async () => (await kept()).every((count) => count === 0)
      await until('no watch', isNothing, { instead: async () => String(await kept()) })
    }
  })
})
