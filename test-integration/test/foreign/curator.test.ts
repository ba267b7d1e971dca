import { expect, test } from 'vitest'
import { caughtUp } from '../support/clients.ts'
import { until } from '../../src/ensemble/index.ts'
import { connected, describeForeign, statOf, type Tests, type TestWorld, type World } from './world.ts'

const anywhere: Tests<World> = (world) => {
  test('creates, reads, writes and deletes nodes', async () => {
    const { curator, zk } = await world()
    const client = await curator()
    expect(await client.call('create', '/a', 'first')).toBe('/a')
    expect(await client.call('get', '/a')).toEqual(['first', await statOf(zk, '/a')])
    expect(await client.call('set', '/a', 'second', 0)).toEqual(await statOf(zk, '/a'))
    expect(await client.call('get', '/a')).toEqual(['second', expect.objectContaining({ version: 1 })])
    expect(await client.call('createWithParents', '/a/b/c/ÿ', 'größer 😀')).toBe('/a/b/c/ÿ')
    expect(await client.call('get', '/a/b/c/ÿ')).toMatchObject(['größer 😀', { dataLength: 13 }])
    expect(await client.call('create', '/a/s-', '', 'PERSISTENT_SEQUENTIAL')).toBe('/a/s-0000000001')
    expect(await client.call('createProtected', '/a/e-', 'x', 'EPHEMERAL_SEQUENTIAL')).toMatch(
      /^\/a\/_c_[0-9a-f-]{36}-e-0000000002$/,
    )
    expect(await client.call('create', '/a/container', '', 'CONTAINER')).toBe('/a/container')
    const children = await client.call<string[]>('children', '/a')
    expect(children).toEqual([expect.stringMatching(/^_c_/), 'b', 'container', 's-0000000001'])
    expect(await client.call('exists', `/a/${children[0]}`)).toMatchObject({ ephemeralOwner: client.session })
    expect(await client.call('exists', '/a')).toEqual(await statOf(zk, '/a'))
    expect(await client.call('exists', '/a/none')).toBeNull()
    await client.call('delete', '/a/s-0000000001', 0)
    await client.call('deleteWithChildren', '/a')
    await caughtUp(zk)
    expect((await zk.getChildren('/')).children).toEqual([])
  })

  test('gets the errors for what it may not do', async () => {
    const { curator } = await world()
    const client = await curator()
    await client.call('createWithParents', '/node/child')
    await client.call('create', '/ephemeral', '', 'EPHEMERAL')
    await expect(client.call('create', '/node')).rejects.toThrow('NODEEXISTS')
    await expect(client.call('create', '/no/node')).rejects.toThrow('NONODE')
    await expect(client.call('create', '/ephemeral/child')).rejects.toThrow('NOCHILDRENFOREPHEMERALS')
    await expect(client.call('get', '/no')).rejects.toThrow('NONODE')
    await expect(client.call('set', '/node', 'x', 7)).rejects.toThrow('BADVERSION')
    await expect(client.call('delete', '/node')).rejects.toThrow('NOTEMPTY')
    await expect(client.call('createWithAcl', '/acl', '', 'nonsense:me:cdrwa')).rejects.toThrow('INVALIDACL')
  })

  test('guards nodes by ACLs', async () => {
    const { curator } = await world()
    const client = await curator()
    const digest = 'user:tpUq/4Pn5A64fVZyQ0gOJ8ZWqkY='
    await client.call('createWithAcl', '/guarded', 'mine', `digest:${digest}:cdrwa`)
    await expect(client.call('get', '/guarded')).rejects.toThrow('NOAUTH')
    await client.call('addAuth', 'digest', 'user:password')
    expect(await client.call('get', '/guarded')).toMatchObject(['mine', {}])
    expect(await client.call('acl', '/guarded')).toEqual([[31, 'digest', digest]])
  })

  test('does transactions, whole or not at all', async () => {
    const { curator, zk } = await world()
    const client = await curator()
    await zk.create('/node', 'before')
    const write = [
      ['check', '/node', 0],
      ['create', '/node/child', 'x'],
      ['set', '/node', 'after'],
    ]
    await expect(client.call('transaction', ...write, ['delete', '/none'])).rejects.toThrow('NONODE')
    expect(await client.call('children', '/node')).toEqual([])
    expect(await client.call('transaction', ...write, ['delete', '/node/child'])).toEqual([
      ['CHECK', '/node', 0],
      ['CREATE', '/node/child', 0],
      ['SET_DATA', '/node', 0],
      ['DELETE', '/node/child', 0],
    ])
    expect(await client.call('get', '/node')).toEqual(['after', await statOf(zk, '/node')])
  })

  test('receives events from its watches, and none from removed ones', async () => {
    const { curator, zk } = await world()
    const client = await curator()
    await zk.create('/node', '0')
    await client.caughtUp()
    expect(await client.call('getAndWatch', '/node')).toBe('0')
    expect(await client.call('existsAndWatch', '/missing')).toBe(false)
    await zk.setData('/node', '1')
    expect(await client.nextEvent('watch')).toEqual(['NodeDataChanged', '/node'])
    await zk.create('/missing')
    expect(await client.nextEvent('watch')).toEqual(['NodeCreated', '/missing'])
    await client.call('getAndWatch', '/node')
    await client.call('removeWatches', '/node')
    expect(await client.nextEvent('watch')).toEqual(['DataWatchRemoved', '/node'])
    await expect(client.call('removeWatches', '/node')).rejects.toThrow('NOWATCHER')
    await zk.setData('/node', '2')
    await client.call('sync', '/node')
    // A leader answers a sync before it has applied what a follower may have reported.
    await client.caughtUp()
    expect(await client.call('get', '/node')).toMatchObject(['2', {}])
    expect(client.eventsSoFar('watch')).toEqual([])
  })

  test('NodeCache and TreeCache follow what others do', async () => {
    const { curator, zk } = await world()
    const client = await curator()
    await zk.create('/tree', '0')
    await client.caughtUp()
    await client.call('watchNode', '/tree')
    await client.call('watchTree', '/tree')
    expect(await client.nextEvent('tree')).toEqual(['NODE_ADDED', '/tree', '0'])
    expect(await client.nextEvent('tree')).toEqual(['INITIALIZED'])

    await zk.setData('/tree', '1')
    expect(await client.nextEvent('node')).toBe('1')
    expect(await client.nextEvent('tree')).toEqual(['NODE_UPDATED', '/tree', '1'])
    await zk.create('/tree/child', 'new')
    expect(await client.nextEvent('tree')).toEqual(['NODE_ADDED', '/tree/child', 'new'])
    await zk.delete('/tree/child')
    expect(await client.nextEvent('tree')).toEqual(['NODE_REMOVED', '/tree/child', 'new'])
    await zk.delete('/tree')
    expect(await client.nextEvent('node')).toBeNull()
    expect(await client.nextEvent('tree')).toEqual(['NODE_REMOVED', '/tree', '1'])
    await zk.create('/tree', 'again')
    expect(await client.nextEvent('node')).toBe('again')
    expect(await client.nextEvent('tree')).toEqual(['NODE_ADDED', '/tree', 'again'])
  })

  test('InterProcessMutex is held by one of two clients, and goes to the next in line', async () => {
    const { curator, zk } = await world()
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => curator()))
    expect(await first!.call('acquire', '/lock')).toBe(true)
    // The thread that holds it may acquire it again.
    expect(await first!.call('acquire', '/lock')).toBe(true)
    expect(await first!.call('participants', '/lock')).toBe(1)
    let isGranted = false
    const waits = second!.call('acquire', '/lock').then((granted) => (isGranted = granted === true))
    await caughtUp(zk)
    await until('the second to queue', async () => (await zk.getChildren('/lock')).children.length === 2)
    expect(await third!.call('acquire', '/lock', 0)).toBe(false)
    await first!.call('release', '/lock')
    expect(await third!.call('acquire', '/lock', 0)).toBe(false)
    expect(isGranted).toBe(false)
    await first!.call('release', '/lock')
    expect(await waits).toBe(true)
    await second!.call('release', '/lock')
    expect(await third!.call('acquire', '/lock', 0)).toBe(true)
  })

  test('InterProcessReadWriteLock is shared by readers, and makes a writer wait', async () => {
    const { curator, zk } = await world()
    const [reader, other, writer] = await Promise.all([1, 2, 3].map(() => curator()))
    expect(await reader!.call('acquireRead', '/rw')).toBe(true)
    expect(await other!.call('acquireRead', '/rw', 0)).toBe(true)
    expect(await writer!.call('acquireWrite', '/rw', 0)).toBe(false)
    const writes = writer!.call('acquireWrite', '/rw')
    await caughtUp(zk)
    await until('the writer to queue', async () => (await zk.getChildren('/rw')).children.length === 3)
    await reader!.call('releaseRead', '/rw')
    expect(await reader!.call('acquireRead', '/rw', 0)).toBe(false)
    await other!.call('releaseRead', '/rw')
    expect(await writes).toBe(true)
    expect(await reader!.call('acquireRead', '/rw', 0)).toBe(false)
    // A writer may read as well.
    expect(await writer!.call('acquireRead', '/rw', 0)).toBe(true)
  })

  test('LeaderLatch has one leader, and another when that one leaves', async () => {
    const { curator } = await world()
    const [first, second] = await Promise.all([1, 2].map(() => curator()))
    await first!.call('enter', '/latch', 'first')
    expect(await first!.nextEvent('leads')).toBe('first')
    await second!.call('enter', '/latch', 'second')
    const candidates = (): Promise<unknown[]> => first!.call('candidates', '/latch')
    await until('the second to stand', async () => (await candidates()).length === 2)
    expect(await candidates()).toEqual(['first', 'second'])
    expect(await second!.call('leader', '/latch')).toBe('first')
    expect(second!.eventsSoFar('leads')).toEqual([])
    await first!.call('leave', '/latch')
    expect(await second!.nextEvent('leads')).toBe('second')
    expect(await second!.call('leader', '/latch')).toBe('second')
  })

  test('DistributedAtomicLong and InterProcessSemaphoreV2 work', async () => {
    const { curator } = await world()
    const [first, second] = await Promise.all([1, 2].map(() => curator()))
    expect(await first!.call('count', '/count', 3)).toBe(3)
    expect(await second!.call('count', '/count', 4)).toBe(7)
    expect(await first!.call('takeLeases', '/leases', 3, 2)).toEqual([true, true])
    expect(await second!.call('takeLeases', '/leases', 3, 2)).toEqual([true, false])
  })

  test('goes on in the same session, with its caches, when its server is killed', async () => {
    const { curator, servers, zk } = await world()
    const client = await curator()
    await client.call('create', '/ephemeral', '', 'EPHEMERAL')
    await zk.create('/node', 'before')
    await client.caughtUp()
    await client.call('watchTree', '/node')
    expect(await client.nextEvent('state')).toBe('CONNECTED')
    expect(await client.nextEvent('tree')).toEqual(['NODE_ADDED', '/node', 'before'])
    expect(await client.nextEvent('tree')).toEqual(['INITIALIZED'])

    const server = await client.call<string>('server')
    await servers.kill(server)
    expect(await client.nextEvent('state')).toBe('SUSPENDED')
    await connected(() => zk.setData('/node', 'after'))
    expect(await client.nextEvent('state')).toBe('RECONNECTED')
    expect(await client.call('create', '/new')).toBe('/new')
    expect(await client.call('session')).toBe(client.session)
    expect(await client.call('server')).not.toBe(server)
    expect(await statOf(zk, '/ephemeral')).toMatchObject({ ephemeralOwner: client.session })
    await until('the cache to have caught up', async () =>
      client.eventsSoFar('tree').some((change) => String(change) === 'NODE_UPDATED,/node,after'),
    )
  })

  test('begins a new session after it stood still for too long, and leads no more by then', async () => {
    const { curator, zk } = await world()
    const options = { sessionTimeout: 2_000 }
    const [stalled, other] = await Promise.all([1, 2].map(() => curator(options)))
    await stalled!.call('enter', '/latch', 'stalled')
    expect(await stalled!.nextEvent('leads')).toBe('stalled')
    expect(await stalled!.call('keep', '/kept', 'mine')).toBe(true)
    expect(await stalled!.nextEvent('state')).toBe('CONNECTED')
    await other!.call('enter', '/latch', 'other')

    await stalled!.stop()
    // When the servers have ended the session, and not before.
    expect(await other!.nextEvent('leads')).toBe('other')
    await caughtUp(zk)
    expect(await zk.exists('/kept')).toBeUndefined()
    await stalled!.goOn()
    expect(await stalled!.nextEvent('state')).toBe('SUSPENDED')
    expect(await stalled!.nextEvent('leads no more')).toBe('stalled')
    expect(await stalled!.nextEvent('state')).toBe('LOST')
    expect(await stalled!.nextEvent('state')).toBe('RECONNECTED')
    const session = await stalled!.call('session')
    expect(session).not.toBe(stalled!.session)
    await until('the node to be made again', async () => (await zk.exists('/kept')) !== undefined)
    expect(await statOf(zk, '/kept')).toMatchObject({ ephemeralOwner: session })
    await other!.call('leave', '/latch')
    expect(await stalled!.nextEvent('leads')).toBe('stalled')
  })
}

const atTestEnsemble: Tests<TestWorld> = (world) => {
  test('begins a new session when a test expires the one it has', async () => {
    const { curator, zk, ensemble } = await world()
    const [client, other] = await Promise.all([curator(), curator()])
    await client.call('enter', '/latch', 'first')
    expect(await client.nextEvent('leads')).toBe('first')
    await other.call('enter', '/latch', 'second')
    await client.call('keep', '/kept', 'mine')
    expect(await client.nextEvent('state')).toBe('CONNECTED')

    ensemble.sessions.expire(BigInt(`0x${client.session}`))
    expect(await other.nextEvent('leads')).toBe('second')
    expect(await client.nextEvent('state')).toBe('SUSPENDED')
    expect(await client.nextEvent('leads no more')).toBe('first')
    expect(await client.nextEvent('state')).toBe('LOST')
    expect(await client.nextEvent('state')).toBe('RECONNECTED')
    const session = await client.call('session')
    expect(session).not.toBe(client.session)
    await until('the node to be made again', async () => (await zk.exists('/kept')) !== undefined)
    expect(await statOf(zk, '/kept')).toMatchObject({ ephemeralOwner: session })
  })

  test('finds its protected node when the reply to its create is lost', async () => {
    const { curator, zk, root, ensemble } = await world()
    const client = await curator()
    await zk.create('/parent')
    const lost = ensemble.faults.loseReply({ op: 'create', path: `${root}/parent`, connection: 'reset' })
    const path = await client.call<string>('createProtected', '/parent/e-', '', 'EPHEMERAL_SEQUENTIAL')
    expect(lost.count).toBe(1)
    await caughtUp(zk)
    expect((await zk.getChildren('/parent')).children).toEqual([path.replace('/parent/', '')])
  })

  test('goes on in the same session when all servers are gone for a while', async () => {
    const { curator, zk, ensemble } = await world()
    const client = await curator()
    await client.call('create', '/ephemeral', '', 'EPHEMERAL')
    expect(await client.nextEvent('state')).toBe('CONNECTED')
    for (const member of ensemble.members) member.kill()
    expect(await client.nextEvent('state')).toBe('SUSPENDED')
    for (const member of ensemble.members) member.restart()
    expect(await client.nextEvent('state')).toBe('RECONNECTED')
    expect(await client.call('session')).toBe(client.session)
    expect(await statOf(zk, '/ephemeral')).toMatchObject({ ephemeralOwner: client.session })
  })
}

describeForeign('Curator', 'a TestEnsemble', { anywhere, atTestEnsemble })
