// Groups and services beside Curator 5.4: GroupMember, PersistentNode, x-discovery.
import { Group, LostError, WaitTimeoutError, ServiceDiscovery, uriOf } from '@zk/recipes'
import { expect, test } from 'vitest'
import { caughtUp } from '../support/clients.ts'
import { until } from '../../src/ensemble/index.ts'
import { describeForeign, type Tests, type TestWorld, type World } from './world.ts'

const utf8 = new TextDecoder()

const anywhere: Tests<World> = (world) => {
  test('GroupMember and Group see the members of each other, what they write, and when they leave', async () => {
    const { curator, zk } = await world()
    const client = await curator()
    const group = new Group(zk, '/group')
    const me = await group.join({ name: 'ours', data: 'one' })
    const stopping = new AbortController()
    let seen: Record<string, string> = {}
    const watching = (async () => {
      for await (const members of group.watchMembers(stopping)) {
        seen = Object.fromEntries(members.map(({ name, text }) => [name, text]))
      }
    })()
    const both = (members: Record<string, string>) => async () => {
      const theirs = await client.call<Record<string, string>>('groupMembers', '/group')
      return JSON.stringify([theirs, seen]) === JSON.stringify([members, members])
    }
    await client.call('joinGroup', '/group', 'theirs', 'two')
    await until('both to see both', both({ ours: 'one', theirs: 'two' }))
    await me.update('three')
    await client.call('setGroupData', '/group', 'four')
    await until('both to see what was written', both({ ours: 'three', theirs: 'four' }))
    await me.release()
    await until('both to see that ours has left', both({ theirs: 'four' }))
    await client.call('leaveGroup', '/group')
    await until('ours to see that theirs has left', async () => Object.keys(seen).length === 0)
    stopping.abort()
    await watching
  })

  test('Group goes on with GroupMember while the servers they are at are killed, one after the other (G15)', async () => {
    const { curator, zk, servers } = await world()
    const client = await curator()
    const group = new Group(zk, '/group')
    const me = await group.join({ name: 'ours', data: '0' })
    await client.call('joinGroup', '/group', 'theirs', 'x')
    const stopping = new AbortController()
    const seen: string[] = []
    const watching = (async () => {
      for await (const members of group.watchMembers(stopping)) {
        const ours = members.find(({ name }) => name === 'ours')
        if (ours !== undefined) seen.push(ours.text)
      }
    })()
    let killed = 0
    for (let turn = 1; turn <= 3; turn++) {
      await servers.mend()
      const at = zk.session.connection?.server
      if (at !== undefined) {
        await servers.kill(at)
        killed++
      }
      await me.update(String(turn), { timeout: 60_000 })
    }
    await servers.mend()
    const expected = JSON.stringify({ ours: '3', theirs: 'x' })
    const theirs = async () => JSON.stringify(await client.call('groupMembers', '/group'))
    await until('Curator to see both', async () => (await theirs()) === expected)
    await until('the loop to see the last update', async () => seen.at(-1) === '3')
    expect(killed).toBeGreaterThan(1)
    expect(seen).toEqual([...seen].sort())
    expect(me.state.name).toBe('present')
    stopping.abort()
    await watching
  })

  test('Group waits for a name that a PersistentNode has, and takes it when that is closed', async () => {
    const { curator, zk } = await world()
    const client = await curator()
    expect(await client.call('keep', '/group/name', 'theirs')).toBe(true)
    await caughtUp(zk)
    const group = new Group(zk, '/group')
    const error = await group.join({ name: 'name', timeout: 300 }).catch((error: unknown) => error)
    expect(WaitTimeoutError.is(error, 'NameTaken') && BigInt.asUintN(64, error.owner.sessionId).toString(16)).toBe(
      client.session,
    )
    const joining = group.join({ name: 'name', data: 'ours' })
    await client.end()
    const me = await joining
    const { data, stat } = await zk.getData('/group/name')
    expect([utf8.decode(data), stat.ephemeralOwner]).toEqual(['ours', zk.session.id])
    await me.release()
    expect(LostError.is(me.signal.reason)).toBe(true)
  })

  test('ServiceDiscovery and that of Curator see the instances of each other, and their changes', async () => {
    const { curator, zk } = await world()
    const client = await curator()
    // Otherwise Curator does not write whether an instance is enabled.
    await client.call('openServices', '/services', false)
    const services = new ServiceDiscovery(zk, '/services')
    const uriSpec = '{scheme}://{address}:{port}/{[}{name}{]}'
    const mine = { address: '10.0.0.7', port: 8080, payload: { region: 'north', weight: 3 }, uriSpec }
    const me = await services.register({ name: 'orders', id: 'ours', ...mine })
    const theirs = {
      name: 'orders',
      id: 'theirs',
      address: '10.0.0.8',
      port: 9090,
      sslPort: 9443,
      details: 'south',
      uriSpec,
    }
    await client.call('register', '/services', theirs)
    await caughtUp(zk)

    expect(await services.names()).toEqual(['orders'])
    expect(await client.call('services', '/services')).toEqual(['orders'])
    const ours = await services.instances('orders')
    expect(ours).toMatchObject([
      { id: 'ours', ...mine },
      {
        id: 'theirs',
        address: '10.0.0.8',
        port: 9090,
        sslPort: 9443,
        payload: { '@class': 'CuratorGroups$Details', region: 'south', weight: 3 },
        serviceType: 'DYNAMIC',
        uriSpec,
        enabled: true,
      },
    ])
    expect(ours.map((instance) => uriOf(instance))).toEqual([
      'http://10.0.0.7:8080/{orders}',
      'https://10.0.0.8:9090/{orders}',
    ])
    type Fields = Readonly<Record<string, unknown>>
    const seen = async () => {
      await client.call('sync', '/services')
      const instances = await client.call<Fields[]>('instances', '/services', 'orders')
      return instances.sort((one, other) => (String(one['id']) < String(other['id']) ? -1 : 1))
    }
    expect(await seen()).toMatchObject([
      {
        id: 'ours',
        address: '10.0.0.7',
        port: 8080,
        sslPort: null,
        payload: ['java.util.LinkedHashMap', '{region=north, weight=3}'],
        registrationTimeUTC: me.instance.registrationTimeUTC,
        serviceType: 'DYNAMIC',
        uri: 'http://10.0.0.7:8080/{orders}',
        enabled: true,
      },
      { id: 'theirs', payload: ['CuratorGroups$Details', 'south 3'], uri: 'https://10.0.0.8:9090/{orders}' },
    ])

    await me.update({ payload: 'text', enabled: false, sslPort: 8443 })
    await client.call('updateInstance', '/services', { ...theirs, enabled: false })
    await caughtUp(zk)
    const changed = { payload: ['java.lang.String', 'text'], enabled: false, uri: 'https://10.0.0.7:8080/{orders}' }
    expect(await seen()).toMatchObject([changed, { payload: ['CuratorGroups$Details', 'south 3'], enabled: false }])
    await client.call('unregister', '/services', theirs)
    await me.release()
    await caughtUp(zk)
    expect([await services.instances('orders'), await seen()]).toEqual([[], []])
  })

  test.each(['text', 'map', 'details', 'none'])(
    'ServiceDiscovery writes the JSON of Curator byte by byte, with a payload: %s',
    async (payload) => {
      const { curator, zk } = await world()
      const client = await curator()
      const instance = { name: 'orders', id: 'one', port: 80, uriSpec: 'http://{address}', [payload]: 'x' }
      await client.call('register', '/services', instance)
      await caughtUp(zk)
      const theirs = utf8.decode((await zk.getData('/services/orders/one')).data)
      const [read] = await new ServiceDiscovery(zk, '/services').instances('orders')
      const { registrationTimeUTC, serviceType: _, ...details } = read!
      const me = await new ServiceDiscovery(zk, '/copy').register(details)
      const ours = utf8.decode((await zk.getData(me.path)).data)
      expect(ours.replace(String(me.instance.registrationTimeUTC), String(registrationTimeUTC))).toBe(theirs)
    },
  )
}

const atTestEnsemble: Tests<TestWorld> = (world) => {
  test('GroupMember sees our member again after our session has expired', async () => {
    const { curator, zk, ensemble } = await world()
    const client = await curator()
    const me = await new Group(zk, '/group').join({ name: 'ours', data: 'one' })
    await client.call('joinGroup', '/group', 'theirs', 'two')
    const before = zk.session
    ensemble.sessions.expire(before.id)
    await until('our member to be there again', async () => me.state.name === 'present' && zk.session !== before)
    await until('Curator to see it', async () => {
      const members = await client.call<Record<string, string>>('groupMembers', '/group')
      return members['ours'] === 'one' && members['theirs'] === 'two'
    })
  })
}

describeForeign('Groups beside Curator', 'real servers', { anywhere, atTestEnsemble })
