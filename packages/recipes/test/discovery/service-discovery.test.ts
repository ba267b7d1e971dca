// Services in the layout and the JSON of Curator's x-discovery.
import { describe, expect, test } from 'vitest'
import {
  KeeperError,
  WaitTimeoutError,
  ServiceDiscovery,
  type ServiceInstance,
  uriOf,
  type ZooKeeper,
} from '../../src/index.ts'
import { outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/services'
const RECONNECTED = 3_000

async function prepared() {
  const scene = new Scene()
  const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
  return { scene, zk, other }
}

const stored = (scene: Scene, path: string): unknown =>
  JSON.parse(Buffer.from(scene.ensemble.nodes.get(path)!.data).toString())

/** As Curator 5.4 writes it. */
const foreign = {
  name: 'orders',
  id: 'jvm-1',
  address: '10.0.0.1',
  port: 8080,
  sslPort: null,
  payload: { '@class': 'com.example.Details', weight: 3 },
  registrationTimeUTC: 1_700_000_000_000,
  serviceType: 'DYNAMIC',
  uriSpec: {
    parts: [
      { value: 'http://', variable: false },
      { value: 'address', variable: true },
    ],
  },
  enabled: true,
}

describe('ServiceDiscovery', () => {
  test('ServiceDiscovery.register makes the node and the JSON of Curator, with its fields in its order', async () => {
    const { scene, zk } = await prepared()
    const registering = new ServiceDiscovery(zk, PATH).register({
      name: 'orders',
      id: 'one',
      address: '10.0.0.7',
      port: 8080,
      payload: { weight: 1 },
      uriSpec: '{scheme}://{address}:{port}/{[}x{]}',
    })
    const me = await scene.done(registering)
    expect(me.path).toBe(`${PATH}/orders/one`)
    const json = Buffer.from(scene.ensemble.nodes.get(me.path)!.data).toString()
    expect(json).toBe(
      '{"name":"orders","id":"one","address":"10.0.0.7","port":8080,"sslPort":null,"payload":{"weight":1},' +
        `"registrationTimeUTC":${scene.world.wallNow()},"serviceType":"DYNAMIC","uriSpec":{"parts":[` +
        '{"value":"scheme","variable":true},{"value":"://","variable":false},{"value":"address","variable":true},' +
        '{"value":":","variable":false},{"value":"port","variable":true},{"value":"/","variable":false},' +
        '{"value":"[","variable":true},{"value":"x","variable":false},{"value":"]","variable":true}]}}',
    )
    expect(scene.ensemble.nodes.get(me.path)!.stat.ephemeralOwner).toBe(zk.session.id)
    await scene.done(me.update({ enabled: false }))
    expect(stored(scene, me.path)).toMatchObject({ enabled: false })
    await scene.done(me.release())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('ServiceDiscovery.instances reads the instances of a JVM, ignores fields that it does not know, and keeps the payload as it is (G14)', async () => {
    const { scene, zk } = await prepared()
    scene.ensemble.nodes.create(PATH)
    scene.ensemble.nodes.create(`${PATH}/orders`)
    scene.ensemble.nodes.create(`${PATH}/orders/jvm-1`, { data: JSON.stringify({ ...foreign, future: [1] }) })
    const services = new ServiceDiscovery(zk, PATH)
    const [instance] = await scene.done(services.instances('orders'))
    const { uriSpec: _, ...fields } = foreign
    expect(instance).toEqual({ ...fields, sslPort: undefined, uriSpec: 'http://{address}' })
    expect(uriOf(instance!)).toBe('http://10.0.0.1')
    expect(await scene.done(services.names())).toEqual(['orders'])
    expect(await scene.done(services.instances('unknown'))).toEqual([])
    expect(await scene.done(new ServiceDiscovery(zk, '/nothing').names())).toEqual([])
  })

  test('ServiceDiscovery.instances reads JSON before CURATOR-275, which has no field enabled', async () => {
    const { scene, zk } = await prepared()
    const { enabled: _, ...old } = foreign
    for (const path of [PATH, `${PATH}/orders`]) scene.ensemble.nodes.create(path)
    scene.ensemble.nodes.create(`${PATH}/orders/jvm-1`, { data: JSON.stringify({ ...old, serviceType: 'STATIC' }) })
    const instances = await scene.done(new ServiceDiscovery(zk, PATH).instances('orders'))
    expect(instances).toMatchObject([{ enabled: true, serviceType: 'STATIC' }])
  })

  test('ServiceDiscovery tells of an instance that cannot be read, once for each content, and goes on with the others', async () => {
    const { scene, zk, other } = await prepared()
    const told: string[] = []
    const onUnreadable = ({ path, error }: { path: string; error: unknown }) =>
      void told.push(`${path} ${String(error)}`)
    const services = new ServiceDiscovery(zk, PATH, { onUnreadable })
    await scene.done(new ServiceDiscovery(other, PATH).register({ name: 'orders', id: 'good' }))
    const path = `${PATH}/orders/bad`
    const contents = [
      'no JSON',
      '[]',
      '{"name":"orders"}',
      '{"name":"orders","id":"bad","port":"80"}',
      '{"name":"a","id":"b","uriSpec":{}}',
      '{"name":"a","id":"b","uriSpec":{"parts":[{"value":"address}","variable":true}]}}',
    ]
    scene.ensemble.nodes.create(path)
    for (const data of contents) {
      scene.ensemble.nodes.setData(path, data)
      for (const _ of [1, 2]) expect(await scene.done(services.instances('orders'))).toMatchObject([{ id: 'good' }])
    }
    expect(told.map((each) => each.replace(/.*?Error: /, ''))).toEqual([
      expect.stringContaining('JSON'),
      'the JSON of an instance must be an object',
      'the JSON of an instance must have the field id',
      'port must be a number, not "80"',
      'uriSpec must have parts',
      'a field of uriSpec must have no braces: address}',
    ])
    expect(told.every((each) => each.startsWith(path))).toBe(true)
  })

  test('ServiceDiscovery tells of an instance again when it has gone and come again, and keeps nothing of it meanwhile', async () => {
    const { scene, zk, other } = await prepared()
    const told: string[] = []
    const services = new ServiceDiscovery(zk, PATH, { onUnreadable: ({ path }) => void told.push(path) })
    await scene.done(new ServiceDiscovery(other, PATH).register({ name: 'orders', id: 'good' }))
    const path = `${PATH}/orders/bad`
    for (const _ of [1, 2]) {
      scene.ensemble.nodes.create(path, { data: 'no JSON' })
      for (const __ of [1, 2]) await scene.done(services.instances('orders'))
      scene.ensemble.nodes.delete(path)
      await scene.done(services.instances('orders'))
    }
    expect(told).toEqual([path, path])
  })

  test('ServiceDiscovery reads a brace of a foreign URI as a brace', async () => {
    const { scene, zk } = await prepared()
    const parts = [
      { value: 'http://{', variable: false },
      { value: 'id', variable: true },
      { value: '}/{x', variable: false },
    ]
    scene.ensemble.nodes.create(PATH)
    scene.ensemble.nodes.create(`${PATH}/orders`)
    scene.ensemble.nodes.create(`${PATH}/orders/one`, {
      data: JSON.stringify({ name: 'orders', id: 'one', uriSpec: { parts } }),
    })
    const [instance] = await scene.done(new ServiceDiscovery(zk, PATH).instances('orders'))
    expect(uriOf(instance!)).toBe('http://{one}/{x')
  })

  test('ServiceDiscovery tells of an instance that this client may not read', async () => {
    const { scene, zk, other } = await prepared()
    await scene.done(other.addAuth('digest', 'one:secret'))
    scene.ensemble.nodes.create(PATH)
    scene.ensemble.nodes.create(`${PATH}/orders`)
    const acl = [{ perms: 31, id: { scheme: 'auth', id: '' } }]
    await scene.done(new ServiceDiscovery(other, PATH, { acl }).register({ name: 'orders', id: 'secret' }))
    const told: unknown[] = []
    const services = new ServiceDiscovery(zk, PATH, { onUnreadable: ({ error }) => void told.push(error) })
    expect(await scene.done(services.instances('orders'))).toEqual([])
    expect(told.map((error) => KeeperError.is(error, 'NoAuth'))).toEqual([true])
  })

  test('ServiceDiscovery.watchInstances yields the instances, now and whenever they change', async () => {
    const { scene, zk, other } = await prepared()
    const seen: (readonly ServiceInstance[])[] = []
    const stopping = new AbortController()
    const watching = outcome(
      (async () => {
        for await (const instances of new ServiceDiscovery(zk, PATH).watchInstances('orders', stopping))
          seen.push(instances)
      })(),
    )
    await scene.world.settle()
    const me = await scene.done(new ServiceDiscovery(other, PATH).register({ name: 'orders', id: 'one', port: 1 }))
    await scene.done(me.update({ port: 2, enabled: false }))
    await scene.done(me.release())
    stopping.abort()
    await scene.world.settle()
    expect(seen.map((instances) => instances.map(({ id, port, enabled }) => ({ id, port, enabled })))).toEqual([
      [],
      [{ id: 'one', port: 1, enabled: true }],
      [{ id: 'one', port: 2, enabled: false }],
      [],
    ])
    expect([watching.status, scene.leftovers()]).toEqual(['fulfilled', nothing])
  })

  test('Registration.update changes the fields that are given, keeps the others, and the next node has them', async () => {
    const { scene, zk } = await prepared()
    const me = await scene.done(new ServiceDiscovery(zk, PATH).register({ name: 'orders', address: 'a', port: 1 }))
    await scene.done(me.update({ port: 2, payload: 'two' }))
    const changed = { id: me.instance.id, address: 'a', port: 2, payload: 'two' }
    expect(me.instance).toMatchObject(changed)
    scene.expire(zk)
    await scene.world.advance(RECONNECTED)
    expect(stored(scene, me.path)).toMatchObject(changed)
    expect(me.state).toMatchObject({ name: 'present', sessionId: zk.session.id })
    const refused = await scene.start(me.update({ payload: 'x'.repeat(2 ** 21) }))
    expect(refused.error).toBeInstanceOf(RangeError)
    expect(me.instance).toMatchObject(changed)
  })

  test('ServiceDiscovery.register rejects with a WaitTimeoutError where another instance has the id', async () => {
    const { scene, zk, other } = await prepared()
    await scene.done(new ServiceDiscovery(zk, PATH).register({ name: 'orders', id: 'one' }))
    const again = outcome(new ServiceDiscovery(other, PATH).register({ name: 'orders', id: 'one' }, { timeout: 100 }))
    await scene.world.advance(100)
    expect(WaitTimeoutError.is(again.error)).toBe(true)
  })
})

describe('uriOf', () => {
  const instance: ServiceInstance = {
    ...foreign,
    serviceType: 'DYNAMIC',
    sslPort: undefined,
    uriSpec: '{scheme}://{ address }:{port}/{name}/{id}?{unknown}{[}{]}{service-type}{registration-time-utc}{ssl-port}',
  }

  test('uriOf fills in the fields as Curator does', () => {
    expect(uriOf(instance)).toBe('http://10.0.0.1:8080/orders/jvm-1?{}dynamic1700000000000')
    expect(uriOf({ ...instance, sslPort: 443 })).toMatch(/^https:.*443$/)
    expect(uriOf(instance, { scheme: 'ws', unknown: 'x=' })).toMatch(/^ws:.*\?x=\{\}/)
    expect(uriOf({ ...instance, uriSpec: undefined })).toBe('')
    expect(uriOf({ ...instance, uriSpec: 'x{constructor}y{toString}' })).toBe('xy')
  })
})

describe('Registration.update', () => {
  const huge = 'x'.repeat(2 ** 21)

  async function registered() {
    const { scene, zk } = await prepared()
    const me = await scene.done(new ServiceDiscovery(zk, PATH).register({ name: 'orders', address: 'a', port: 1 }))
    return { scene, zk, me }
  }

  test('Registration.update that ran out of time is written later, and a further one keeps it', async () => {
    const { scene, zk, me } = await registered()
    scene.cut(zk)
    scene.refuse()
    const late = outcome(me.update({ port: 2 }, { timeout: 300 }))
    await scene.world.advance(300)
    expect(KeeperError.is(late.error, 'RequestTimeout')).toBe(true)
    scene.accept()
    await scene.world.advance(RECONNECTED)
    expect(stored(scene, me.path)).toMatchObject({ port: 2 })
    expect(me.instance.port).toBe(2)
    await scene.done(me.update({ payload: 'x' }))
    expect(stored(scene, me.path)).toMatchObject({ port: 2, payload: 'x' })
  })

  test('Registration.update that is refused fails no other update, in either order', async () => {
    const { scene, me } = await registered()
    const all = [me.update({ port: 2 }), me.update({ payload: huge }), me.update({ address: 'b' })].map(outcome)
    await scene.world.advance(1_000)
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(me.instance).toMatchObject({ port: 2, address: 'b', payload: undefined })
    expect(stored(scene, me.path)).toMatchObject({ port: 2, address: 'b', payload: null })
  })

  test('Registration.update that is refused leaves nothing for the next update to send', async () => {
    const { scene, me } = await registered()
    await scene.start(me.update({ payload: huge }))
    await scene.done(me.update({ port: 3 }))
    expect(stored(scene, me.path)).toMatchObject({ port: 3, payload: null })
  })

  test('Registration.update writes several changes at once with one request', async () => {
    const { scene, zk, me } = await registered()
    const since = scene.since()
    const payload = { zone: 'a' }
    const all = [me.update({ port: 2 }), me.update({ payload }), me.update({ address: 'b' })]
    payload.zone = 'b'
    await scene.done(Promise.all(all))
    expect(since.ops(zk.session.id).filter((op) => op === 'setData')).toHaveLength(1)
    expect(stored(scene, me.path)).toMatchObject({ port: 2, address: 'b', payload: { zone: 'a' } })
  })

  test('Registration.instance stays after the end, also where no write of it was answered', async () => {
    const { scene, zk } = await prepared()
    scene.ensemble.nodes.create(PATH)
    scene.ensemble.nodes.create(`${PATH}/orders`)
    scene.ensemble.faults.loseReply({ op: 'create', path: `${PATH}/orders/one`, connection: 'reset' })
    scene.ensemble.faults.loseRequest({ op: 'setData', times: Infinity, connection: 'reset' })
    const registering = outcome(new ServiceDiscovery(zk, PATH).register({ name: 'orders', id: 'one', port: 1 }))
    for (let ms = 0; registering.status === 'pending' && ms < RECONNECTED; ms++) await scene.world.advance(1)
    const me = registering.value
    expect(me.instance.port).toBe(1)
    outcome(me.release())
    await scene.world.settle()
    expect(me.instance.port).toBe(1)
  })
})
