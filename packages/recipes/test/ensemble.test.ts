// The ensemble that the other tests of this package rely on: does it do what ZooKeeper does?
import { connect, type KeeperError, op, type ZooKeeper } from '@zk/client'
import { describe, expect, test } from 'vitest'
import { outcome } from './support/outside.ts'
import { Scene } from './support/scene.ts'

async function one(): Promise<{ scene: Scene; zk: ZooKeeper }> {
  const scene = new Scene()
  return { scene, zk: await scene.client() }
}

describe('Ensemble', () => {
  test('Ensemble counts the children ever created, and starts again with a new parent', async () => {
    const { scene, zk } = await one()
    const make = async () => (await scene.done(zk.create('/a/x-', '', { mode: 'PERSISTENT_SEQUENTIAL' }))).path
    await scene.done(zk.create('/a'))
    const first = await make()
    await scene.done(zk.delete(first))
    await scene.done(zk.create('/a/other'))
    expect([first, await make()]).toEqual(['/a/x-0000000000', '/a/x-0000000002'])
    scene.ensemble.delete('/a')
    await scene.done(zk.create('/a'))
    expect(await make()).toBe('/a/x-0000000000')
  })

  test('Ensemble tells the Stat as ZooKeeper does', async () => {
    const { scene, zk } = await one()
    await scene.done(zk.create('/a', 'four'))
    await scene.done(zk.create('/a/b', '', { mode: 'EPHEMERAL' }))
    await scene.done(zk.create('/a/c'))
    await scene.done(zk.delete('/a/c'))
    await scene.done(zk.setData('/a', 'three'))
    const [parent, child] = [await scene.done(zk.exists('/a')), await scene.done(zk.exists('/a/b'))]
    // Every write uses up one zxid. For each child created there is one deleted, but for those that are left.
    expect(parent).toMatchObject({ version: 1, cversion: 3, numChildren: 1, dataLength: 5, ephemeralOwner: 0n })
    expect(parent!.pzxid - parent!.czxid).toBe(3n)
    expect(parent!.mzxid - parent!.czxid).toBe(4n)
    expect(child).toMatchObject({ czxid: parent!.czxid + 1n, ephemeralOwner: zk.session.id })
    expect((await scene.start(zk.exists('/none'))).value).toBeUndefined()
  })

  test('Ensemble refuses writes as ZooKeeper does', async () => {
    const { scene, zk } = await one()
    await scene.done(zk.create('/a'))
    await scene.done(zk.create('/a/e', '', { mode: 'EPHEMERAL' }))
    const refused = [
      zk.create('/a'),
      zk.create('/none/b'),
      zk.create('/a/e/b'),
      zk.delete('/a'),
      zk.delete('/none'),
      zk.setData('/a', '', { version: 7 }),
    ].map((each) => outcome<unknown>(each))
    await scene.world.settle()
    expect(refused.map(({ error }) => (error as KeeperError).code)).toEqual([
      'NodeExists',
      'NoNode',
      'NoChildrenForEphemerals',
      'NotEmpty',
      'NoNode',
      'BadVersion',
    ])
  })

  test('Ensemble does all of a multi under one zxid, or nothing', async () => {
    const { scene, zk } = await one()
    await scene.done(zk.multi([op.create('/a'), op.create('/a/b'), op.setData('/a', 'x'), op.check('/a', 1)]))
    const { czxid, mzxid, pzxid } = scene.ensemble.node('/a')!
    expect([mzxid, pzxid]).toEqual([czxid, czxid])
    const failing = await scene.start(zk.multi([op.delete('/a/b'), op.check('/a', 7), op.delete('/a')]))
    expect(failing.error).toMatchObject({
      code: 'BadVersion',
      index: 1,
      results: ['Ok', 'BadVersion', 'RuntimeInconsistency'],
    })
    expect(scene.ensemble.children('/a')).toEqual(['b'])
  })

  test('Ensemble fires a watch once, before any reply that shows the change', async () => {
    const { scene, zk } = await one()
    await scene.done(zk.create('/a'))
    const [data, children] = [
      await scene.done(zk.getDataAndWatch('/a')),
      await scene.done(zk.getChildrenAndWatch('/a')),
    ]
    const order: string[] = []
    void data.changed.then(({ type }) => order.push(type))
    void children.changed.then(({ type }) => order.push(type))
    void zk.setData('/a', 'x').then(() => order.push('setData'))
    void zk.create('/a/b').then(() => order.push('create'))
    void zk.setData('/a', 'y').then(() => order.push('setData'))
    await scene.world.settle()
    expect(order).toEqual(['NodeDataChanged', 'setData', 'NodeChildrenChanged', 'create', 'setData'])
    expect(scene.ensemble.watches()).toEqual([])
  })

  test('Ensemble tells a connection of a deletion once, however it watched the node', async () => {
    const { scene, zk } = await one()
    await scene.done(zk.create('/a'))
    for (const watching of [zk.getDataAndWatch('/a'), zk.getDataAndWatch('/a'), zk.getChildrenAndWatch('/a')]) {
      await scene.done<unknown>(watching)
    }
    const since = scene.ensemble.history.since()
    scene.ensemble.delete('/a')
    await scene.world.settle()
    expect(since.told.map(({ type }) => type)).toEqual(['NodeDeleted'])
  })

  test('Ensemble leaves a watch for a node that may come, and none for one that was read in vain', async () => {
    const { scene, zk } = await one()
    await scene.start(zk.getDataAndWatch('/a'))
    await scene.start(zk.getChildrenAndWatch('/a'))
    expect(scene.ensemble.watches()).toEqual([])
    const { changed } = await scene.done(zk.existsAndWatch('/a'))
    scene.ensemble.create('/a')
    expect((await scene.done(changed)).type).toBe('NodeCreated')
  })

  test('Ensemble catches up on watches when a client comes back', async () => {
    const { scene, zk } = await one()
    for (const path of ['/kept', '/changed', '/deleted']) scene.ensemble.create(path)
    const watched = []
    for (const path of ['/kept', '/changed', '/deleted'])
      watched.push(outcome((await scene.done(zk.getDataAndWatch(path))).changed))
    watched.push(outcome((await scene.done(zk.existsAndWatch('/created'))).changed))
    watched.push(outcome((await scene.done(zk.getChildrenAndWatch('/'))).changed))
    scene.ensemble.refuse()
    scene.ensemble.cut(zk.session.id)
    await scene.world.settle()
    scene.ensemble.setData('/changed', 'x')
    scene.ensemble.delete('/deleted')
    scene.ensemble.create('/created')
    scene.ensemble.listen()
    await scene.world.advance(5_000)
    expect(watched.map(({ status }) => status)).toEqual(['pending', 'fulfilled', 'fulfilled', 'fulfilled', 'fulfilled'])
    expect(watched.slice(1).map(({ value }) => value.type)).toEqual([
      'NodeDataChanged',
      'NodeDeleted',
      'NodeCreated',
      'NodeChildrenChanged',
    ])
    expect(scene.ensemble.watches()).toMatchObject([{ table: 'data', path: '/kept' }])
  })

  test('Ensemble ends a session that it does not hear, with its nodes, and not one that it does', async () => {
    const { scene, zk } = await one()
    const silent = await scene.client()
    for (const [path, client] of [
      ['/a', zk],
      ['/b', silent],
    ] as const)
      await scene.done(client.create(path, '', { mode: 'EPHEMERAL' }))
    scene.ensemble.freeze(silent.session.id)
    await scene.world.advance(silent.session.timeout - 1)
    expect(scene.ensemble.ephemerals()).toEqual(['/a', '/b'])
    scene.ensemble.refuse()
    await scene.world.advance(1)
    // By then it had come back.
    expect(scene.ensemble.ephemerals()).toEqual(['/a', '/b'])
    scene.ensemble.freeze(silent.session.id)
    await scene.world.advance(silent.session.timeout)
    expect(scene.ensemble.ephemerals()).toEqual(['/a'])
    expect(scene.ensemble.sessions.live.map(({ id }) => id)).toEqual([zk.session.id])
  })

  test('Ensemble takes the nodes of a session that is closed', async () => {
    const { scene, zk } = await one()
    await scene.done(zk.create('/a', '', { mode: 'EPHEMERAL' }))
    await scene.done(zk.close())
    expect(scene.ensemble.ephemerals()).toEqual([])
    expect(scene.world.timers).toBe(0)
  })

  test('Ensemble has a server that lags serve what was, until a sync or a write through it', async () => {
    const scene = new Scene({ servers: 2 })
    const [first, second] = scene.ensemble.servers
    first!.refuse()
    const zk = await scene.client()
    for (const catchUp of [() => zk.sync('/'), () => zk.create('/mine', '', { mode: 'PERSISTENT_SEQUENTIAL' })]) {
      second!.lag()
      const path = `/new${scene.ensemble.children('/').length}`
      scene.ensemble.create(path)
      expect(await scene.done(zk.exists(path))).toBeUndefined()
      await scene.done<unknown>(catchUp())
      expect(await scene.done(zk.exists(path))).toBeDefined()
    }
  })

  test('Ensemble has a server that lags refuse a client that has seen more', async () => {
    const scene = new Scene({ servers: 2 })
    const [first, second] = scene.ensemble.servers
    second!.refuse()
    const zk = await scene.client()
    second!.lag()
    second!.listen()
    await scene.done(zk.create('/a'))
    first!.refuse()
    scene.ensemble.cut(zk.session.id)
    await scene.world.advance(10_000)
    expect(zk.session.connection).toBeUndefined()
    second!.recover()
    await scene.world.advance(15_000)
    expect(zk.session.connection?.server).toBe(second!.address)
  })

  test('Ensemble lets nobody in with another password', async () => {
    const { scene, zk } = await one()
    const { sessions } = scene.ensemble
    expect(sessions.resume(zk.session.id, new Uint8Array(16))).toBeUndefined()
    expect(sessions.resume(zk.session.id, sessions.get(zk.session.id)!.passwd)).toBeDefined()
  })

  test('Ensemble that refuses everybody cannot be connected to', async () => {
    const scene = new Scene()
    scene.ensemble.refuse()
    const connecting = outcome(connect(scene.ensemble.connectString, { runtime: scene.world, connectTimeout: 1_000 }))
    await scene.world.advance(1_000)
    expect((connecting.error as Error).message).toContain('ECONNREFUSED')
  })
})
