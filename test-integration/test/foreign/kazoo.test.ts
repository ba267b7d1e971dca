import { expect, test } from 'vitest'
import { caughtUp } from '../support/clients.ts'
import { until } from '../../src/ensemble/index.ts'
import { connected, describeForeign, statOf, type Tests, type TestWorld, type World } from './world.ts'

const anywhere: Tests<World> = (world) => {
  test('creates, reads, writes and deletes nodes', async () => {
    const { kazoo, zk } = await world()
    const client = await kazoo()
    expect(await client.call('ensure_path', '/a/b/c')).toBe('/a/b/c')
    expect(await client.call('ensure_path', '/a/b/c')).toBe(true)
    expect(await client.call('create', '/a/node', 'first')).toBe('/a/node')
    expect(await client.call('get', '/a/node')).toEqual(['first', await statOf(zk, '/a/node')])
    expect(await client.call('set', '/a/node', 'second', 0)).toEqual(await statOf(zk, '/a/node'))
    expect(await client.call('get', '/a/node')).toEqual(['second', expect.objectContaining({ version: 1 })])
    expect(await client.call('create', '/a/s-', '', { sequence: true })).toBe('/a/s-0000000002')
    const ephemeral = { ephemeral: true, sequence: true }
    expect(await client.call('create', '/a/e-', 'x', ephemeral)).toBe('/a/e-0000000003')
    expect(await client.call('exists', '/a/e-0000000003')).toMatchObject({
      ephemeralOwner: client.session,
      dataLength: 1,
    })
    expect(await client.call('create', '/a/x/ÿ', 'größer 😀', { makepath: true })).toBe('/a/x/ÿ')
    expect(await client.call('get', '/a/x/ÿ')).toMatchObject(['größer 😀', { dataLength: 13 }])
    expect(await client.call('get_children', '/a')).toEqual(['b', 'e-0000000003', 'node', 's-0000000002', 'x'])
    expect(await client.call('exists', '/a')).toEqual(await statOf(zk, '/a'))
    expect(await client.call('sync', '/a')).toBe('/a')
    expect(await client.call('delete', '/a/node', 1)).toBe(true)
    expect(await client.call('exists', '/a/node')).toBeNull()
    await client.call('delete', '/a', -1, true)
    await caughtUp(zk)
    expect((await zk.getChildren('/')).children).toEqual([])
  })

  test('reads the state of its server', async () => {
    const { kazoo } = await world()
    const client = await kazoo()
    expect(await client.call('ask', 'ruok')).toBe('imok')
    expect(await client.call('ask', 'srvr')).toMatch(/^Zookeeper version: 3\.[^]*^Mode: (leader|follower)$/m)
    // What KazooClient.server_version reads.
    expect(await client.call('ask', 'envi')).toMatch(/^zookeeper\.version=3\.\d+\.\d+/m)
    expect(await client.call('ask', 'mntr')).toMatch(/^zk_num_alive_connections\t\d+$/m)
  })

  test('gets the errors for what it may not do', async () => {
    const { kazoo } = await world()
    const client = await kazoo()
    await client.call('create', '/node/child', '', { makepath: true })
    await client.call('create', '/ephemeral', '', { ephemeral: true })
    await expect(client.call('create', '/node')).rejects.toThrow('NodeExistsError')
    await expect(client.call('create', '/no/node')).rejects.toThrow('NoNodeError')
    await expect(client.call('create', '/ephemeral/child')).rejects.toThrow('NoChildrenForEphemeralsError')
    await expect(client.call('get', '/no')).rejects.toThrow('NoNodeError')
    await expect(client.call('set', '/node', 'x', 7)).rejects.toThrow('BadVersionError')
    await expect(client.call('delete', '/node')).rejects.toThrow('NotEmptyError')
    await expect(client.call('delete', '/node/child', 7)).rejects.toThrow('BadVersionError')
  })

  test('guards nodes by ACLs', async () => {
    const { kazoo } = await world()
    const client = await kazoo()
    await client.call('create', '/guarded', 'mine', {}, ['user', 'password'])
    const anyone = [1, 'world', 'anyone']
    // Only a session that may change the ACL sees the digest.
    expect(await client.call('get_acls', '/guarded')).toEqual([[[31, 'digest', 'user:x'], anyone], 0])
    await expect(client.call('set', '/guarded', 'changed')).rejects.toThrow('NoAuthError')
    expect(await client.call('add_auth', 'digest', 'user:password')).toBe(true)
    const digest = 'user:tpUq/4Pn5A64fVZyQ0gOJ8ZWqkY='
    expect(await client.call('get_acls', '/guarded')).toEqual([[[31, 'digest', digest], anyone], 0])
    expect(await client.call('set', '/guarded', 'changed')).toMatchObject({ version: 1 })
    const other = await kazoo()
    expect(await other.call('get', '/guarded')).toMatchObject(['changed', {}])
  })

  test('does transactions, whole or not at all', async () => {
    const { kazoo, zk } = await world()
    const client = await kazoo()
    await zk.create('/node', 'before')
    const write = [
      ['check', '/node', 0],
      ['create', '/node/child', 'x'],
      ['set_data', '/node', 'after'],
    ]
    const refused = ['RolledBackError', 'RolledBackError', 'RolledBackError', 'NoNodeError', 'RuntimeInconsistency']
    const wrong = [...write, ['delete', '/none'], ['check', '/node', 0]]
    expect(await client.call('transaction', wrong)).toEqual(refused)
    expect(await client.call('get_children', '/node')).toEqual([])
    const done = [true, '/node/child', expect.any(Array), true]
    expect(await client.call('transaction', [...write, ['delete', '/node/child']])).toEqual(done)
    expect(await client.call('get', '/node')).toEqual(['after', await statOf(zk, '/node')])
  })

  test('receives events from its watches', async () => {
    const { kazoo, zk } = await world()
    const client = await kazoo()
    await zk.create('/node', '0')
    await client.caughtUp()
    expect(await client.call('get_and_watch', '/node')).toBe('0')
    expect(await client.call('exists_and_watch', '/missing')).toBe(false)
    await client.call('watch_data', '/node')
    await client.call('watch_children', '/node')
    expect(await client.nextEvent('data')).toEqual(['0', 0, null])
    expect(await client.nextEvent('children')).toEqual([])

    await zk.setData('/node', '1')
    expect(await client.nextEvent('watch')).toEqual(['CHANGED', '/node'])
    expect(await client.nextEvent('data')).toEqual(['1', 1, ['CHANGED', '/node']])
    await zk.create('/node/child')
    expect(await client.nextEvent('children')).toEqual(['child'])
    await zk.create('/missing')
    expect(await client.nextEvent('watch')).toEqual(['CREATED', '/missing'])
    await zk.delete('/node/child')
    expect(await client.nextEvent('children')).toEqual([])
    await zk.delete('/node')
    expect(await client.nextEvent('data')).toEqual([null, null, ['DELETED', '/node']])
    await zk.create('/node', '2')
    expect(await client.nextEvent('data')).toEqual(['2', 0, ['CREATED', '/node']])
    expect(client.eventsSoFar('watch')).toEqual([])
  })

  test('Lock is held by one of two processes, and goes to the next in line', async () => {
    const { kazoo, zk } = await world()
    const [first, second, third] = await Promise.all([1, 2, 3].map(() => kazoo()))
    expect(await first!.call('acquire', '/lock', { identifier: 'first' })).toMatch(/^[0-9a-f]{32}__lock__0000000000$/)
    let isGranted = false
    const waits = second!.call('acquire', '/lock', { identifier: 'second' }).then((node) => {
      isGranted = true
      return node
    })
    await caughtUp(zk)
    await until('the second to queue', async () => (await zk.getChildren('/lock')).children.length === 2)
    await first!.caughtUp()
    expect(await first!.call('contenders', '/lock')).toEqual(['first', 'second'])
    expect(await third!.call('try_acquire', '/lock', { identifier: 'third' })).toBeNull()
    expect(isGranted).toBe(false)
    expect(await first!.call('release', '/lock')).toBe(true)
    expect(await waits).toMatch(/__lock__0000000001$/)
    expect(await second!.call('release', '/lock')).toBe(true)
    expect(await third!.call('acquire', '/lock')).toMatch(/__lock__0000000003$/)
  })

  test('ReadLock is shared, and makes a WriteLock wait', async () => {
    const { kazoo, zk } = await world()
    const [reader, other, writer] = await Promise.all([1, 2, 3].map(() => kazoo()))
    const [read, write] = [{ kind: 'ReadLock' }, { kind: 'WriteLock' }]
    expect(await reader!.call('acquire', '/rw', read)).toMatch(/__rlock__0000000000$/)
    expect(await other!.call('acquire', '/rw', read)).toMatch(/__rlock__0000000001$/)
    expect(await writer!.call('try_acquire', '/rw', write)).toBeNull()
    const writes = writer!.call('acquire', '/rw', write)
    await caughtUp(zk)
    await until('the writer to queue', async () => (await zk.getChildren('/rw')).children.length === 3)
    await reader!.call('release', '/rw')
    expect(await reader!.call('try_acquire', '/rw', read)).toBeNull()
    await other!.call('release', '/rw')
    expect(await writes).toMatch(/__lock__0000000003$/)
  })

  test('Election has one leader, and another when that one resigns', async () => {
    const { kazoo } = await world()
    const [first, second] = await Promise.all([1, 2].map(() => kazoo()))
    await first!.call('volunteer', '/election', 'first')
    expect(await first!.nextEvent('leads')).toBe('first')
    await second!.call('volunteer', '/election', 'second')
    const candidates = (): Promise<unknown[]> => first!.call('candidates', '/election')
    await until('the second to stand', async () => (await candidates()).length === 2)
    expect(await candidates()).toEqual(['first', 'second'])
    expect(second!.eventsSoFar('leads')).toEqual([])
    await first!.call('resign', '/election')
    expect(await second!.nextEvent('leads')).toBe('second')
    expect(await candidates()).toEqual(['second'])
  })

  test('Counter, Queue, Party and Semaphore work', async () => {
    const { kazoo } = await world()
    const [first, second] = await Promise.all([1, 2].map(() => kazoo()))
    expect(await first!.call('count', '/count', 3)).toBe(3)
    expect(await second!.call('count', '/count', 4)).toBe(7)
    await first!.call('put', '/queue', 'a', 'b', 'c')
    expect(await second!.call('take', '/queue', 3)).toEqual(['a', 'b', 'c'])
    expect(await first!.call('join', '/party', 'first')).toEqual(['first'])
    expect(await second!.call('join', '/party', 'second')).toEqual(['first', 'second'])
    expect(await first!.call('take_leases', '/leases', 2, 3)).toEqual([true, true, false])
  })

  test('goes on in the same session, with its watches, when its server is killed', async () => {
    const { kazoo, servers, zk } = await world()
    const client = await kazoo()
    await client.call('create', '/ephemeral', '', { ephemeral: true })
    await zk.create('/node', 'before')
    await client.caughtUp()
    await client.call('watch_data', '/node')
    expect(await client.nextEvent('state')).toBe('CONNECTED')
    expect(await client.nextEvent('data')).toEqual(['before', 0, null])

    const server = await client.call<string>('server')
    await servers.kill(server)
    expect(await client.nextEvent('state')).toBe('SUSPENDED')
    await connected(() => zk.setData('/node', 'after'))
    expect(await client.nextEvent('state')).toBe('CONNECTED')
    expect(await client.call('retry_create', '/new')).toBe('/new')
    expect(await client.call('session')).toBe(client.session)
    expect(await client.call('server')).not.toBe(server)
    expect(await statOf(zk, '/ephemeral')).toMatchObject({ ephemeralOwner: client.session })
    expect(await client.nextEvent('data')).toMatchObject(['after', expect.any(Number), {}])
  })

  test('begins a new session after it stood still for too long, and has lost its lock by then', async () => {
    const { kazoo, zk } = await world()
    const options = { sessionTimeout: 2_000 }
    const [stalled, other] = await Promise.all([1, 2].map(() => kazoo(options)))
    await stalled!.call('acquire', '/lock')
    await zk.create('/node', 'before')
    await stalled!.caughtUp()
    await stalled!.call('watch_data', '/node')
    expect(await stalled!.nextEvent('data')).toEqual(['before', 0, null])
    expect(await stalled!.nextEvent('state')).toBe('CONNECTED')
    const waits = other!.call('acquire', '/lock')

    await stalled!.stop()
    // When the servers have ended the session, and not before.
    expect(await waits).toMatch(/__lock__0000000001$/)
    await zk.setData('/node', 'after')
    await stalled!.goOn()
    expect(await stalled!.nextEvent('state')).toBe('SUSPENDED')
    expect(await stalled!.nextEvent('state')).toBe('LOST')
    expect(await stalled!.nextEvent('state')).toBe('CONNECTED')
    expect(await stalled!.call('session')).not.toBe(stalled!.session)
    expect(await stalled!.nextEvent('data')).toEqual(['after', 1, ['NONE', null]])
    await other!.call('release', '/lock')
  })
}

const atTestEnsemble: Tests<TestWorld> = (world) => {
  test('begins a new session when a test expires the one it has', async () => {
    const { kazoo, zk, ensemble } = await world()
    const [client, other] = await Promise.all([kazoo(), kazoo()])
    await zk.create('/node', 'before')
    await client.call('watch_data', '/node')
    expect(await client.nextEvent('data')).toEqual(['before', 0, null])
    await client.call('volunteer', '/election', 'first')
    expect(await client.nextEvent('leads')).toBe('first')
    await other.call('volunteer', '/election', 'second')
    expect(await client.nextEvent('state')).toBe('CONNECTED')

    ensemble.sessions.expire(BigInt(`0x${client.session}`))
    expect(await other.nextEvent('leads')).toBe('second')
    expect(await client.nextEvent('state')).toBe('SUSPENDED')
    expect(await client.nextEvent('state')).toBe('LOST')
    expect(await client.nextEvent('state')).toBe('CONNECTED')
    expect(await client.call('session')).not.toBe(client.session)
    await until('its watches to be set again', async () => {
      await zk.setData('/node', 'after')
      return client.eventsSoFar('data').some((change) => String(change).startsWith('after'))
    })
  })

  test('Lock finds its node when the reply to its create is lost', async () => {
    const { kazoo, zk, root, ensemble } = await world()
    const client = await kazoo()
    await zk.create('/lock')
    const lost = ensemble.faults.loseReply({ op: 'create', path: `${root}/lock` })
    const node = await client.call<string>('acquire', '/lock')
    expect(lost.count).toBe(1)
    await caughtUp(zk)
    expect((await zk.getChildren('/lock')).children).toEqual([node])
    expect(await client.call('session')).toBe(client.session)
  })

  test('goes on in the same session when all servers are gone for a while', async () => {
    const { kazoo, zk, ensemble } = await world()
    const client = await kazoo()
    await client.call('create', '/ephemeral', '', { ephemeral: true })
    expect(await client.nextEvent('state')).toBe('CONNECTED')
    for (const member of ensemble.members) member.kill()
    expect(await client.nextEvent('state')).toBe('SUSPENDED')
    for (const member of ensemble.members) member.restart()
    expect(await client.nextEvent('state')).toBe('CONNECTED')
    expect(await client.call('session')).toBe(client.session)
    expect(await statOf(zk, '/ephemeral')).toMatchObject({ ephemeralOwner: client.session })
  })
}

describeForeign('kazoo', 'a TestEnsemble', { anywhere, atTestEnsemble })
