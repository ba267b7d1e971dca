import { describe, expect, test } from 'vitest'
import {
  type ACL,
  connect,
  ConnectError,
  CREATOR_ALL_ACL,
  op,
  OPEN_ACL_UNSAFE,
  Perms,
  READ_ACL_UNSAFE,
  type Stat,
  type ZooKeeper,
} from '@zk/client'
import { until } from '../src/ensemble/index.ts'
import { freePorts } from '../src/ensemble/free-ports.ts'
import { caughtUp, newChroot, newClient, newProxy, refusal, rejection } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { noWatches, serverWatches } from './support/server-watches.ts'
import { Stopwatch } from './support/stopwatch.ts'

const text = (data: Uint8Array): string => new TextDecoder().decode(data)
const bytes = (length: number): Uint8Array => new Uint8Array(length).fill(7)

describeEnsemble('operations', (ensemble) => {
  describe('ZooKeeper.create', () => {
    test('ZooKeeper.create makes a persistent node and returns its path and Stat', async () => {
      const zk = await newClient(ensemble)
      const { path, stat } = await zk.create('/node', 'text')
      expect(path).toBe('/node')
      expect(stat).toEqual({
        czxid: expect.any(BigInt),
        mzxid: stat.czxid,
        pzxid: stat.czxid,
        ctime: expect.any(Number),
        mtime: stat.ctime,
        version: 0,
        cversion: 0,
        aversion: 0,
        ephemeralOwner: 0n,
        dataLength: 4,
        numChildren: 0,
      } satisfies Record<keyof Stat, unknown>)
      expect(stat.czxid).toBeGreaterThan(0n)
      expect(Math.abs(stat.ctime - Date.now())).toBeLessThan(60_000)
      expect(await zk.getData('/node')).toEqual({ data: new TextEncoder().encode('text'), stat })
    })

    test('ZooKeeper.close deletes an ephemeral node at once', async () => {
      const chroot = await newChroot(ensemble)
      const [owner, other] = await Promise.all([newClient(ensemble, { chroot }), newClient(ensemble, { chroot })])
      await owner.create('/ephemeral', '', { mode: 'EPHEMERAL' })
      await owner.create('/persistent')
      await caughtUp(other)
      const { changed } = await other.getDataAndWatch('/ephemeral')
      await owner.close()
      // No waiting for a timeout: this request comes behind the closeSession.
      await caughtUp(other)
      expect(await other.exists('/ephemeral')).toBeUndefined()
      expect(await changed).toMatchObject({ type: 'NodeDeleted', path: '/ephemeral' })
      expect(await other.exists('/persistent')).toBeDefined()
    })
  })

  describe('ZooKeeper.getData', () => {
    test.each(['leader', 'follower'] as const)(
      'ZooKeeper.setData accepts data that just fits into maxRequestSize, through the %s (W26)',
      async (mode) => {
        const at = mode === 'leader' ? await ensemble.leader() : (await ensemble.followers())[0]!
        const zk = await newClient(ensemble, { at })
        await zk.create('/node')
        // xid, type, length and path, length and data, version.
        const longest = 1_048_575 - (4 + 4 + 4 + `${zk.chroot}/node`.length + 4 + 4)
        await expect(zk.setData('/node', bytes(longest + 1))).rejects.toThrow(RangeError)
        await expect(zk.setData('/node', bytes(longest + 1))).rejects.toThrow(/1048576 bytes, over maxRequestSize/)
        expect((await zk.exists('/node'))?.version).toBe(0)
        const stat = await zk.setData('/node', bytes(longest))
        expect(stat.dataLength).toBe(longest)
        const read = await zk.getData('/node')
        expect(read.stat).toEqual(stat)
        expect(Buffer.compare(read.data, bytes(longest))).toBe(0)
      },
    )

    test('ZooKeeper.setData over the limit of the server gets no reply: ConnectionLoss, and the session lives', async () => {
      const zk = await newClient(ensemble, { maxRequestSize: 2 ** 21 })
      await zk.create('/node')
      const { id, connection } = zk.session
      const before = zk.exists('/node')
      const tooLarge = refusal(zk.setData('/node', bytes(2 ** 20)))
      const after = zk.exists('/node')
      const error = await tooLarge
      expect(error).toMatchObject({ code: 'ConnectionLoss', op: 'setData', path: '/node', outcomeUnknown: true })
      expect((error.cause as Error).message).toMatch(/closed the connection|ECONNRESET|EPIPE/)
      // The reads around it are repeated on the next connection, and show that it was not executed.
      expect((await before)?.version).toBe(0)
      expect((await after)?.version).toBe(0)
      expect(zk.session.id).toBe(id)
      expect(zk.session.connection).not.toBe(connection)
    })
  })

  describe('ZooKeeper.getChildren', () => {
    test('ZooKeeper.getChildren returns many children', async () => {
      const zk = await newClient(ensemble)
      const names = Array.from({ length: 2_000 }, (_, index) => `child-${index}`)
      await zk.create('/parent')
      await zk.multi(names.map((name) => op.create(`/parent/${name}`)))
      const { children, stat } = await zk.getChildren('/parent')
      expect(new Set(children)).toEqual(new Set(names))
      expect(stat.numChildren).toBe(2_000)
    })
  })

  describe('ZooKeeper.setACL', () => {
    test('ZooKeeper.setACL replaces the ACL, and increments aversion', async () => {
      const zk = await newClient(ensemble)
      const { stat: created } = await zk.create('/node')
      expect(await zk.getACL('/node')).toEqual({ acl: OPEN_ACL_UNSAFE, stat: created })

      const acl: ACL[] = [
        { perms: Perms.READ | Perms.ADMIN, id: { scheme: 'world', id: 'anyone' } },
        { perms: Perms.WRITE, id: { scheme: 'ip', id: '10.0.0.0/8' } },
      ]
      // A change of the ACL is no change of the node: mzxid and version stay.
      const changed = await zk.setACL('/node', acl, { version: 0 })
      expect(changed).toEqual({ ...created, aversion: 1 })
      expect(await zk.getACL('/node')).toEqual({ acl, stat: changed })
      await expect(zk.setACL('/node', OPEN_ACL_UNSAFE, { version: 0 })).rejects.toMatchObject({ code: 'BadVersion' })
      await expect(zk.setData('/node', '')).rejects.toMatchObject({ code: 'NoAuth', number: -102, op: 'setData' })
    })
  })

  describe('ZooKeeper.addAuth', () => {
    test('ZooKeeper.addAuth of a digest gives access to nodes that its owner restricted with "auth"', async () => {
      const chroot = await newChroot(ensemble)
      const owner = await newClient(ensemble, { chroot, auth: [{ scheme: 'digest', auth: 'user:password' }] })
      const other = await newClient(ensemble, { chroot })
      await owner.create('/secret', 'data', { acl: CREATOR_ALL_ACL })
      await owner.sync('/')
      expect((await owner.getACL('/secret')).acl).toEqual([
        { perms: Perms.ALL, id: { scheme: 'digest', id: expect.stringMatching(/^user:.{28}$/) } },
      ])
      await caughtUp(other)
      await expect(other.getData('/secret')).rejects.toMatchObject({ code: 'NoAuth', op: 'getData', path: '/secret' })
      await expect(other.getChildren('/secret')).rejects.toMatchObject({ code: 'NoAuth' })
      await expect(other.setData('/secret', '')).rejects.toMatchObject({ code: 'NoAuth' })
      await expect(other.create('/secret/child')).rejects.toMatchObject({ code: 'NoAuth' })
      await expect(other.multi([op.setData('/secret', '')])).rejects.toMatchObject({ code: 'NoAuth', index: 0 })
      // Its existence is not restricted.
      expect(await other.exists('/secret')).toBeDefined()

      await other.addAuth('digest', new TextEncoder().encode('user:wrong'))
      await expect(other.getData('/secret')).rejects.toMatchObject({ code: 'NoAuth' })
      await other.addAuth('digest', 'user:password')
      expect(text((await other.getData('/secret')).data)).toBe('data')
    })

    test('ZooKeeper.addAuth is sent before later calls, and first on every later connection (S12)', async () => {
      const chroot = await newChroot(ensemble)
      const proxy = await newProxy(ensemble.nodes[0]!)
      const zk = await newClient(ensemble, { chroot, servers: [proxy] })
      const added = zk.addAuth('digest', 'user:password')
      await zk.create('/secret', 'data', { acl: CREATOR_ALL_ACL })
      await added
      proxy.cut()
      const reads = await Promise.all([zk.getData('/secret'), zk.getData('/secret')])
      expect(reads.map(({ data }) => text(data))).toEqual(['data', 'data'])
    })

    test('ZooKeeper.addAuth with an unknown scheme is final: AuthFailed (S13)', async () => {
      const zk = await newClient(ensemble)
      const { session } = zk
      const refused = refusal(zk.addAuth('unheard-of', 'x'))
      const behind = refusal(zk.exists('/'))
      expect(await refused).toMatchObject({ code: 'AuthFailed', op: 'addAuth', outcomeUnknown: false })
      expect(await behind).toMatchObject({ code: 'AuthFailed', op: 'exists' })
      expect(session.signal.reason).toMatchObject({ code: 'AuthFailed' })
      expect(zk.session).toBe(session)
      expect(session.connection).toBeUndefined()
      await expect(zk.getData('/')).rejects.toMatchObject({ code: 'AuthFailed' })
      await expect(zk.addAuth('digest', 'user:password')).rejects.toMatchObject({ code: 'AuthFailed' })
      await zk.close()
    })

    test('connect rejects with AuthFailed when a credential is refused (S13)', async () => {
      const auth = [{ scheme: 'unheard-of', auth: 'x' }]
      const error = await refusal(connect(ensemble.connectString, { sessionTimeout: 4_000, auth }))
      expect(error.code).toBe('AuthFailed')
    })
  })

  describe('ZooKeeper.sync', () => {
    const askings: [what: string, at: 'followers' | 'nodes', (zk: ZooKeeper) => Promise<unknown>][] = [
      ['sync, at a follower', 'followers', (zk) => zk.sync('/counter')],
      ['a write that fails, at any server', 'nodes', (zk) => refusal(zk.delete('/no-such-node'))],
    ]
    test.each(askings)('ZooKeeper.getData behind %s sees all earlier writes', async (_, where, ask) => {
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
  })

  describe('ZooKeeper.multi', () => {
    test('ZooKeeper.multi executes all in order, under one zxid, and returns a result for each', async () => {
      const zk = await newClient(ensemble)
      await zk.create('/old', 'old')
      await zk.create('/guard')
      const [created, numbered, changed, deleted, checked, container, ephemeral] = await zk.multi([
        op.create('/new', 'data'),
        op.create('/new/child-', '', { mode: 'EPHEMERAL_SEQUENTIAL' }),
        op.setData('/new', 'changed', { version: 0 }),
        op.delete('/old', { version: 0 }),
        op.check('/guard', { version: 0 }),
        op.create('/container', 'in a multi', { mode: 'CONTAINER' }),
        op.create('/ephemeral', '', { mode: 'EPHEMERAL', acl: READ_ACL_UNSAFE }),
      ])
      expect([created, numbered, deleted, checked]).toEqual([
        { path: '/new' },
        { path: '/new/child-0000000000' },
        undefined,
        undefined,
      ])
      expect([container, ephemeral]).toEqual([{ path: '/container' }, { path: '/ephemeral' }])
      const now = (await zk.exists('/new'))!
      expect(changed).toMatchObject({ version: 1, dataLength: 7, czxid: now.czxid, mzxid: now.czxid })
      expect(now).toMatchObject({ mzxid: now.czxid, pzxid: now.czxid, numChildren: 1 })
      expect(await zk.exists('/container')).toMatchObject({ czxid: now.czxid, ephemeralOwner: 0n })
      expect(text((await zk.getData('/container')).data)).toBe('in a multi')
      expect((await zk.exists('/ephemeral'))?.ephemeralOwner).toBe(zk.session.id)
      expect((await zk.getACL('/ephemeral')).acl).toEqual(READ_ACL_UNSAFE)
      expect(await zk.exists('/old')).toBeUndefined()
    })

    test('ZooKeeper.multi changes nothing when one operation fails, and reports which and why', async () => {
      const zk = await newClient(ensemble)
      await zk.create('/node', 'data')
      const error = await refusal(
        zk.multi([
          op.create('/a'),
          op.create('/container', '', { mode: 'CONTAINER' }),
          op.setData('/node', 'changed'),
          op.check('/node', { version: 7 }),
          op.delete('/node'),
          op.create('/missing/b'),
        ]),
      )
      expect(error).toMatchObject({ code: 'BadVersion', number: -103, op: 'multi', path: '/node', index: 3 })
      expect(error.results).toEqual(['Ok', 'Ok', 'Ok', 'BadVersion', 'RuntimeInconsistency', 'RuntimeInconsistency'])
      expect(error.outcomeUnknown).toBe(false)
      expect(error.message).toContain('operation 3')
      expect((await zk.getChildren('/')).children).toEqual(['node'])
      expect(text((await zk.getData('/node')).data)).toBe('data')
      expect((await zk.exists('/node'))?.version).toBe(0)
    })
  })

  describe('ZooKeeper.removeWatches', () => {
    test('ZooKeeper.removeWatches removes the watches from the server, and notifies waiting callers', async () => {
      const zk = await newClient(ensemble)
      await zk.create('/node')
      const watched = await Promise.all([
        zk.getDataAndWatch('/node'),
        zk.existsAndWatch('/node'),
        zk.getChildrenAndWatch('/node'),
        zk.existsAndWatch('/missing'),
      ])
      const [data, exist, child] = watched.map(({ changed }) => changed)
      expect(await serverWatches(ensemble, zk.chroot)).toEqual({ data: ['/missing', '/node'], children: 1 })

      await zk.removeWatches('/node', 'Children')
      expect(await child).toEqual({ type: 'ChildWatchRemoved', path: '/node' })
      expect(await serverWatches(ensemble, zk.chroot)).toEqual({ data: ['/missing', '/node'], children: 0 })
      await zk.removeWatches('/node', 'Data')
      expect(await data).toEqual({ type: 'DataWatchRemoved', path: '/node' })
      expect(await exist).toEqual({ type: 'DataWatchRemoved', path: '/node' })
      expect(await serverWatches(ensemble, zk.chroot)).toEqual({ data: ['/missing'], children: 0 })

      await zk.removeWatches('/missing')
      expect(await serverWatches(ensemble, zk.chroot)).toEqual(noWatches)
      await expect(zk.removeWatches('/node')).rejects.toMatchObject({ code: 'NoWatcher', path: '/node' })
    })
  })

  describe('chroot', () => {
    test('ZooKeeper.chroot is put before every path of a request, and removed from every path of a reply', async () => {
      const zk = await newClient(ensemble)
      const whole = await newClient(ensemble, { chroot: '/' })
      expect(zk.chroot).toMatch(/^\/test-/)
      await zk.create('/a', 'data')
      await caughtUp(whole)
      expect(text((await whole.getData(`${zk.chroot}/a`)).data)).toBe('data')
      const root = await zk.getChildrenAndWatch('/')
      expect(root.children).toEqual(['a'])
      const [created] = await zk.multi([op.create('/b-', '', { mode: 'PERSISTENT_SEQUENTIAL' })])
      expect(created.path).toBe('/b-0000000001')
      expect(await root.changed).toMatchObject({ type: 'NodeChildrenChanged', path: '/' })
      await expect(zk.getData('/c')).rejects.toMatchObject({ code: 'NoNode', path: '/c' })
      const { acl } = await zk.getACL('/')
      expect(acl).toEqual(OPEN_ACL_UNSAFE)
      expect((await zk.setData('/', 'root')).version).toBe(1)
    })

    test('ZooKeeper.chroot may be missing: reads find no node, and ensureContainer creates it', async () => {
      const zk = await newClient(ensemble, { chroot: `${await newChroot(ensemble)}/not/there` })
      expect(await zk.exists('/')).toBeUndefined()
      await expect(zk.create('/node')).rejects.toMatchObject({ code: 'NoNode', path: '/node' })
      await expect(zk.getChildren('/')).rejects.toMatchObject({ code: 'NoNode', path: '/' })
      await zk.ensureContainer('/a/b')
      // Again, and simultaneously from many: every later call finds it created.
      await Promise.all([zk.ensureContainer('/a/b'), zk.ensureContainer('/a/c'), zk.ensureContainer('/')])
      expect((await zk.getChildren('/a')).children.sort()).toEqual(['b', 'c'])
      await zk.create('/node')
      await Promise.all(['/node', '/a/b', '/a/c'].map((path) => zk.delete(path)))
      await until('the deletion of the chroot', async () => (await zk.exists('/')) === undefined)
    })
  })

  describe('connect', () => {
    test('connect rejects in time with what happened at each server when none answers', async () => {
      const ports = await freePorts(2)
      const silent = await newProxy(ensemble.nodes[0]!)
      silent.freeze()
      const servers = [...ports.map((port) => `127.0.0.1:${port}`), silent.address]
      const sinceConnect = new Stopwatch()
      const error = await rejection(connect(servers.join(','), { sessionTimeout: 4_000, connectTimeout: 2_000 }))
      expect(sinceConnect.running).toBeLessThan(4_000)
      if (!ConnectError.is(error)) throw error
      const messages = new Map(error.servers.map((each) => [each.server, each.error.message]))
      expect(new Set(messages.keys())).toEqual(new Set(servers))
      for (const port of ports) expect(messages.get(`127.0.0.1:${port}`)).toContain('ECONNREFUSED')
      expect(messages.get(silent.address)).toBe('no answer to the handshake in time')
      for (const server of servers) expect(error.message).toContain(server)
    })

    test('connect finds the one server of a list that answers', async () => {
      const ports = await freePorts(2)
      const dead = ports.map((port) => ({ address: `127.0.0.1:${port}` }))
      const alive = ensemble.nodes[0]!
      const zk = await newClient(ensemble, { servers: [...dead, alive] })
      expect(zk.session.connection?.server).toBe(alive.address)
    })

    test('connect ends when its signal aborts, and leaves no session', async () => {
      const silent = await newProxy(ensemble.nodes[0]!)
      silent.freeze()
      const abort = new AbortController()
      const connecting = rejection(connect(silent.address, { signal: abort.signal }))
      await until('the attempt', async () => silent.connections > 0)
      abort.abort(new Error('enough'))
      expect(await connecting).toBe(abort.signal.reason)
      silent.thaw()
      await until('the connection to close', async () => silent.connections === 0)
    })
  })

  describe('ZooKeeper.close', () => {
    test('ZooKeeper.close lets earlier calls finish, and rejects later ones (S14, S15)', async () => {
      const chroot = await newChroot(ensemble)
      const zk = await newClient(ensemble, { chroot })
      const { session } = zk
      const before = [zk.create('/a', 'data'), zk.getData('/a'), zk.sync('/')] as const
      const closed = zk.close()
      const behind = [zk.create('/b'), zk.getData('/a'), zk.addAuth('digest', 'a:b'), zk.multi([])].map(refusal)
      expect(text((await before[1]).data)).toBe('data')
      await Promise.all(before)
      for (const error of await Promise.all(behind))
        expect(error).toMatchObject({ code: 'Closed', outcomeUnknown: false })
      await closed
      expect(session.signal.reason).toMatchObject({ code: 'Closed' })
      expect(zk.session).toBe(session)

      for (const call of [
        zk.exists('/a'),
        zk.setData('/a', ''),
        zk.getChildrenAndWatch('/'),
        zk.ensureContainer('/c'),
      ]) {
        expect((await refusal(call)).code).toBe('Closed')
      }
      // A second call succeeds too.
      await zk.close()
      const other = await newClient(ensemble, { chroot })
      await caughtUp(other)
      expect((await other.getChildren('/')).children).toEqual(['a'])
    })
  })
})
