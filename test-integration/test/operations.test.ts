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

    test('ZooKeeper.create accepts every mode and returns the ephemeral owner', async () => {
      const zk = await newClient(ensemble)
      const owner = async (mode: 'PERSISTENT' | 'EPHEMERAL' | 'CONTAINER'): Promise<bigint> =>
        (await zk.create(`/${mode}`, '', { mode })).stat.ephemeralOwner
      expect(await owner('PERSISTENT')).toBe(0n)
      expect(await owner('EPHEMERAL')).toBe(zk.session.id)
      // Servers hide their own mark of a container from clients (DataNode.getClientEphemeralOwner).
      expect(await owner('CONTAINER')).toBe(0n)
    })

    test('ZooKeeper.create numbers sequential nodes by the count of children ever created', async () => {
      const zk = await newClient(ensemble)
      await zk.create('/queue')
      const create = async (name: string, mode: 'PERSISTENT_SEQUENTIAL' | 'EPHEMERAL_SEQUENTIAL' | 'PERSISTENT') =>
        (await zk.create(`/queue/${name}`, '', { mode })).path
      expect(await create('a-', 'PERSISTENT_SEQUENTIAL')).toBe('/queue/a-0000000000')
      expect(await create('b-', 'EPHEMERAL_SEQUENTIAL')).toBe('/queue/b-0000000001')
      await zk.delete('/queue/b-0000000001')
      expect(await create('plain', 'PERSISTENT')).toBe('/queue/plain')
      expect(await create('', 'EPHEMERAL_SEQUENTIAL')).toBe('/queue/0000000003')
      const { stat } = await zk.getChildren('/queue')
      // Creations and deletions.
      expect(stat).toMatchObject({ numChildren: 3, cversion: 5 })
      expect((await zk.exists('/queue/0000000003'))?.ephemeralOwner).toBe(zk.session.id)
      expect((await zk.exists('/queue/a-0000000000'))?.ephemeralOwner).toBe(0n)
    })

    test('ZooKeeper.create of a sequential "/" makes a child of the chroot', async () => {
      const zk = await newClient(ensemble)
      const { path } = await zk.create('/', '', { mode: 'PERSISTENT_SEQUENTIAL' })
      expect(path).toBe('/0000000000')
      expect((await zk.getChildren('/')).children).toEqual(['0000000000'])
    })

    test('ZooKeeper.create makes a container, which the servers remove once it is empty again', async () => {
      const zk = await newClient(ensemble)
      await zk.create('/container', '', { mode: 'CONTAINER' })
      await zk.create('/container/child')
      await zk.delete('/container/child')
      await until('the deletion of the container', async () => (await zk.exists('/container')) === undefined)
    })

    test('ZooKeeper.create fails with the error for its cause', async () => {
      const zk = await newClient(ensemble)
      await zk.create('/node')
      await zk.create('/ephemeral', '', { mode: 'EPHEMERAL' })
      const error = await refusal(zk.create('/node'))
      expect(error).toMatchObject({
        code: 'NodeExists',
        number: -110,
        op: 'create',
        path: '/node',
        outcomeUnknown: false,
      })
      expect(error.sessionId).toBe(zk.session.id)
      expect(error.server).toBe(zk.session.connection?.server)
      await expect(zk.create('/missing/node')).rejects.toMatchObject({ code: 'NoNode', path: '/missing/node' })
      await expect(zk.create('/ephemeral/node')).rejects.toMatchObject({ code: 'NoChildrenForEphemerals' })
      await expect(zk.create('/node', '', { mode: 'CONTAINER' })).rejects.toMatchObject({ code: 'NodeExists' })
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

    test('ZooKeeper.create makes an ephemeral node that outlives its connection', async () => {
      const chroot = await newChroot(ensemble)
      const proxy = await newProxy(ensemble.nodes[0]!)
      const zk = await newClient(ensemble, { chroot, servers: [proxy] })
      const { id } = zk.session
      const { stat } = await zk.create('/ephemeral', '', { mode: 'EPHEMERAL' })
      const { connection } = zk.session
      proxy.cut()
      expect(await zk.exists('/ephemeral')).toEqual(stat)
      expect(zk.session.connection).not.toBe(connection)
      expect(zk.session.id).toBe(id)
    })
  })

  describe('ZooKeeper.delete', () => {
    test('ZooKeeper.delete removes the node, and updates the Stat of its parent', async () => {
      const zk = await newClient(ensemble)
      await zk.create('/parent')
      const { stat: child } = await zk.create('/parent/child')
      const before = await zk.exists('/parent')
      expect(before).toMatchObject({ numChildren: 1, cversion: 1, pzxid: child.czxid })
      expect(await zk.delete('/parent/child')).toBeUndefined()
      expect(await zk.exists('/parent/child')).toBeUndefined()
      const after = (await zk.exists('/parent'))!
      expect(after).toEqual({ ...before, numChildren: 0, cversion: 2, pzxid: after.pzxid })
      expect(after.pzxid).toBeGreaterThan(child.czxid)
    })

    test('ZooKeeper.delete fails for a node that is not empty, missing, or of another version', async () => {
      const zk = await newClient(ensemble)
      await zk.create('/parent')
      await zk.create('/parent/child')
      await zk.setData('/parent', 'changed')
      await expect(zk.delete('/parent')).rejects.toMatchObject({ code: 'NotEmpty', number: -111, op: 'delete' })
      await expect(zk.delete('/missing')).rejects.toMatchObject({ code: 'NoNode', number: -101, path: '/missing' })
      await zk.delete('/parent/child', { version: 0 })
      await expect(zk.delete('/parent', { version: 0 })).rejects.toMatchObject({ code: 'BadVersion', number: -103 })
      await zk.delete('/parent', { version: 1 })
      expect(await zk.exists('/parent')).toBeUndefined()
    })
  })

  describe('ZooKeeper.getData', () => {
    test('ZooKeeper.setData replaces the data and counts the versions', async () => {
      const zk = await newClient(ensemble)
      const { stat: created } = await zk.create('/node', 'one')
      const changed = await zk.setData('/node', new Uint8Array([0, 255, 128]))
      expect(changed).toEqual({ ...created, version: 1, dataLength: 3, mzxid: changed.mzxid, mtime: changed.mtime })
      expect(changed.mzxid).toBeGreaterThan(created.mzxid)
      expect(changed.mtime).toBeGreaterThanOrEqual(created.mtime)
      expect(await zk.getData('/node')).toEqual({ data: new Uint8Array([0, 255, 128]), stat: changed })

      expect(await zk.setData('/node', '', { version: 1 })).toMatchObject({ version: 2, dataLength: 0 })
      await expect(zk.setData('/node', 'late', { version: 1 })).rejects.toMatchObject({ code: 'BadVersion' })
      await expect(zk.setData('/missing', '')).rejects.toMatchObject({ code: 'NoNode', op: 'setData' })
      await expect(zk.getData('/missing')).rejects.toMatchObject({ code: 'NoNode', op: 'getData' })
      expect((await zk.getData('/node')).stat.version).toBe(2)
    })

    test('ZooKeeper.getData returns a Uint8Array with its own buffer, empty for a node without data', async () => {
      const zk = await newClient(ensemble)
      await zk.create('/empty')
      await zk.create('/full', 'text')
      const { data: empty, stat } = await zk.getData('/empty')
      expect([empty, stat.dataLength]).toEqual([new Uint8Array(0), 0])
      const { data } = await zk.getData('/full')
      expect(data.constructor).toBe(Uint8Array)
      expect(data.buffer.byteLength).toBe(4)
    })

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
    test('ZooKeeper.getChildren returns names, and the Stat of the parent', async () => {
      const zk = await newClient(ensemble)
      const { stat: created } = await zk.create('/parent', 'data')
      expect(await zk.getChildren('/parent')).toEqual({ children: [], stat: created })
      const children = await Promise.all(['c', 'a', 'b'].map((name) => zk.create(`/parent/${name}`)))
      const { children: names, stat } = await zk.getChildren('/parent')
      expect(names.sort()).toEqual(['a', 'b', 'c'])
      expect(stat).toEqual({ ...created, numChildren: 3, cversion: 3, pzxid: children[2]!.stat.czxid })
      await expect(zk.getChildren('/missing')).rejects.toMatchObject({ code: 'NoNode', op: 'getChildren' })
    })

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

  describe('ZooKeeper.exists', () => {
    test('ZooKeeper.exists returns the Stat, undefined for a missing node', async () => {
      const zk = await newClient(ensemble)
      const { stat } = await zk.create('/node', 'data')
      expect(await zk.exists('/node')).toEqual(stat)
      expect(await zk.exists('/missing')).toBeUndefined()
      expect(await zk.exists('/missing/below')).toBeUndefined()
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

    test('ZooKeeper.setACL fails for an invalid ACL, and for a missing node', async () => {
      const zk = await newClient(ensemble)
      await zk.create('/node')
      const withId = (scheme: string, id: string): ACL[] => [{ perms: Perms.ALL, id: { scheme, id } }]
      for (const acl of [withId('unheard-of', 'x'), withId('digest', 'no colon'), withId('ip', 'not an address')]) {
        await expect(zk.setACL('/node', acl)).rejects.toMatchObject({ code: 'InvalidACL', number: -114, op: 'setACL' })
        await expect(zk.create('/other', '', { acl })).rejects.toMatchObject({ code: 'InvalidACL', op: 'create' })
      }
      // "auth" stands for the identities of the session, and it has none.
      await expect(zk.setACL('/node', CREATOR_ALL_ACL)).rejects.toMatchObject({ code: 'InvalidACL' })
      await expect(zk.setACL('/missing', OPEN_ACL_UNSAFE)).rejects.toMatchObject({ code: 'NoNode', op: 'setACL' })
      await expect(zk.getACL('/missing')).rejects.toMatchObject({ code: 'NoNode', op: 'getACL' })
      expect((await zk.getACL('/node')).stat.aversion).toBe(0)
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

    test('ZooKeeper.sync accepts a path that does not exist', async () => {
      const zk = await newClient(ensemble)
      expect(await zk.sync('/missing')).toBeUndefined()
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

    test.each([
      ['NoNode', () => op.delete('/missing')],
      ['NoNode', () => op.check('/missing')],
      ['NoNode', () => op.setData('/missing', '')],
      ['NodeExists', () => op.create('/node')],
      ['NodeExists', () => op.create('/node', '', { mode: 'CONTAINER' })],
      ['NotEmpty', () => op.delete('/node')],
      ['NoChildrenForEphemerals', () => op.create('/ephemeral/child')],
      ['InvalidACL', () => op.create('/other', '', { acl: CREATOR_ALL_ACL })],
    ] as const)('ZooKeeper.multi fails with %s as the operation alone would', async (code, makeOp) => {
      const zk = await newClient(ensemble)
      await zk.create('/node')
      await zk.create('/node/child')
      await zk.create('/ephemeral', '', { mode: 'EPHEMERAL' })
      const last = makeOp()
      const error = await refusal(zk.multi([op.check('/node'), last]))
      expect(error).toMatchObject({ code, index: 1, path: last.path, results: ['Ok', code] })
    })

    test('ZooKeeper.multi without operations succeeds', async () => {
      const zk = await newClient(ensemble)
      expect(await zk.multi([])).toEqual([])
    })

    test('ZooKeeper.multi sees the changes of its earlier operations', async () => {
      const zk = await newClient(ensemble)
      await zk.multi([
        op.create('/a'),
        op.check('/a', { version: 0 }),
        op.setData('/a', 'x'),
        op.check('/a', { version: 1 }),
        op.delete('/a'),
      ])
      expect(await zk.exists('/a')).toBeUndefined()
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

    test('ZooKeeper.removeWatches of one kind leaves the other on the server', async () => {
      const zk = await newClient(ensemble)
      await zk.create('/node')
      const data = await zk.getDataAndWatch('/node')
      await zk.getChildrenAndWatch('/node')
      await zk.removeWatches('/node', 'Children')
      await zk.setData('/node', 'changed')
      expect(await data.changed).toMatchObject({ type: 'NodeDataChanged', path: '/node' })
      expect(await serverWatches(ensemble, zk.chroot)).toEqual(noWatches)
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

    test('ZooKeeper.ensurePath creates the chroot and what is below it as persistent nodes', async () => {
      const zk = await newClient(ensemble, { chroot: `${await newChroot(ensemble)}/not/there` })
      await expect(zk.create('/node')).rejects.toThrow('the chroot')
      await Promise.all([zk.ensurePath('/a'), zk.ensurePath('/a'), zk.ensurePath('/')])
      // A container has another owner.
      const owners = await Promise.all(['/', '/a'].map((path) => zk.exists(path)))
      expect(owners.map((stat) => stat?.ephemeralOwner)).toEqual([0n, 0n])
    })

    test('ZooKeeper.ensureContainer fails with the reason why it could not create the node', async () => {
      const zk = await newClient(ensemble)
      await zk.create('/ephemeral', '', { mode: 'EPHEMERAL' })
      await zk.create('/closed', '', { acl: READ_ACL_UNSAFE })
      await expect(zk.ensureContainer('/ephemeral/a')).rejects.toMatchObject({ code: 'NoChildrenForEphemerals' })
      await expect(zk.ensureContainer('/closed/a/b')).rejects.toMatchObject({ code: 'NoAuth' })
      // The root of the tree exists already, and no client may create one.
      const whole = await newClient(ensemble, { chroot: '/' })
      await whole.ensureContainer('/')
    })

    test.each([
      '/ä',
      '/ñandú/Ω',
      '/日本語',
      '/with blank',
      '/ leading',
      '/%2F',
      '/100%',
      '/a+b?c#d&e',
      '/"quoted"',
      '/é',
    ])('ZooKeeper accepts the path %j', async (path) => {
      const zk = await newClient(ensemble)
      await zk.ensureContainer(path)
      const { path: created } = await zk.create(`${path}/child-`, path, { mode: 'PERSISTENT_SEQUENTIAL' })
      expect(created).toBe(`${path}/child-0000000000`)
      expect(text((await zk.getData(created)).data)).toBe(path)
      expect((await zk.getChildren(path)).children).toEqual(['child-0000000000'])
      const { children } = await zk.getChildren(path.slice(0, path.lastIndexOf('/')) || '/')
      expect(children).toEqual([path.slice(path.lastIndexOf('/') + 1)])
    })
  })

  describe('connect', () => {
    test.each([
      ['a chroot after every server', (servers: string[]) => servers.map((server) => `${server}/app`).join(',')],
      ['a chroot that ends with a slash', (servers: string[]) => `${servers.join(',')}/app/`],
      ['a chroot with an empty name', (servers: string[]) => `${servers.join(',')}//app`],
      ['a relative chroot', (servers: string[]) => `${servers.join(',')}/app/../other`],
    ])('connect refuses %s', async (_, toConnectString) => {
      const connectString = toConnectString(ensemble.connectString.split(','))
      expect(await rejection(connect(connectString))).toBeInstanceOf(TypeError)
    })

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

    test.each([
      [900, 1_000],
      [3_000, 3_000],
      [60_000, 10_000],
    ])('connect that requests %i ms gets a session timeout of %i ms', async (asked, given) => {
      const zk = await newClient(ensemble, { sessionTimeout: asked })
      expect(zk.session.timeout).toBe(given)
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

    test('ZooKeeper.close notifies callers that wait for an event that the session has ended', async () => {
      const zk = await newClient(ensemble)
      const { changed } = await zk.existsAndWatch('/missing')
      await zk.close()
      expect(await changed).toEqual({ type: 'SessionEnded', path: '/missing' })
    })
  })
})
