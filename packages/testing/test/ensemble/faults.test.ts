import { describe, expect, it } from 'vitest'
import type { Member } from '../../src/ensemble/index.ts'
import { ErrorCode, has, T, TestClient, TICK, treeOf, World } from './support/world.ts'

const SYNC_LIMIT = 5

const isWhole = (world: World) => () =>
  world.ensemble.members.every((member) => member.isServing()) &&
  world.ensemble.members.filter(({ role }) => role === 'leader').length === 1

function isolate(world: World, member: Member): void {
  const others = world.ensemble.members.filter((other) => other !== member)
  world.ensemble.network.partition(
    others.map(({ name }) => name),
    [member.name],
  )
}

describe('Follower', () => {
  it('Follower cut off from its leader goes on to answer pings and reads until syncLimit ticks are over, also after the leader has ended the session', () => {
    const world = World.ready()
    const [follower, other] = world.followers
    const holder = world.client(follower!, 2 * TICK)
    holder.create('/lock', { flags: 1 }).async()
    const waiter = world.client(other!, 10 * TICK)
    world.run(100)
    const cutAt = world.now
    isolate(world, follower!)
    const beat = () => {
      if (holder.state !== 'established') return
      holder.ping().get('/lock')
      world.agenda.at(world.now + 100, beat)
    }
    beat()
    world.keepAlive(waiter, () => world.now > cutAt + 20_000)
    world.runUntil(() => !has(world.leader, '/lock'))
    const endedAt = world.now
    expect(endedAt - cutAt).toBeLessThanOrEqual(3 * TICK)
    expect(waiter.create('/lock').async().err).toBe(0)
    world.runUntil(() => holder.state === 'closed')
    const answers = holder.replies.filter(({ at }) => at > endedAt)
    expect(answers.length).toBeGreaterThan(20)
    expect(answers.every(({ err }) => err === 0)).toBe(true)
    // Since it last received a packet of the leader, up to half a tick before the cut.
    expect(world.now - cutAt).toBeLessThanOrEqual(SYNC_LIMIT * TICK)
    expect(world.now - cutAt).toBeGreaterThan((SYNC_LIMIT - 0.5) * TICK - 2)
  })

  it('Follower cut off from its leader holds back a write, and the pings behind it', () => {
    const world = World.ready()
    const client = world.client(world.followers[0]!)
    isolate(world, world.followers[0]!)
    client.create('/a').ping()
    world.run(2 * TICK)
    expect(client).toMatchObject({ state: 'established', replies: [] })
    world.ensemble.network.heal()
    world.run()
    expect(client.replies.map(({ op, err }) => [op, err])).toEqual([
      ['create', 0],
      ['ping', 0],
    ])
  })

  it('Follower follows again when the cut heals', () => {
    const world = World.ready()
    const [follower, other] = world.followers
    const client = world.client(other!)
    world.keepAlive(client, () => world.now > 20_000)
    isolate(world, follower!)
    client.create('/a').async()
    world.runUntil(() => follower!.role === 'looking')
    expect(follower!.isServing()).toBe(false)
    world.run(20_000)
    expect(follower!.role).toBe('looking')
    world.ensemble.network.heal()
    world.runUntil(isWhole(world))
    expect(has(follower!, '/a')).toBe(true)
  })
})

describe('Leader', () => {
  it('Leader cut off from its followers goes on to answer reads, pings and syncs until it notices, and commits nothing', () => {
    const world = World.ready(3, { electionTime: () => 100 })
    const old = world.leader
    const [, other] = world.followers
    const reader = world.client(old, 10 * TICK)
    const writer = world.client(old, 10 * TICK)
    world.run(100)
    const cutAt = world.now
    isolate(world, old)
    writer.create('/lost')
    world.runUntil(() => world.leader !== old)
    // A new one serves, and the old does not know.
    const client = world.client(world.leader)
    expect(client.create('/new').async().err).toBe(0)
    expect(old.role).toBe('leader')
    reader.ping().get('/new').sync()
    expect(reader.replies.map(({ op, err }) => [op, err])).toEqual([
      ['ping', 0],
      ['getData', ErrorCode.NoNode],
      ['sync', 0],
    ])
    world.runUntil(() => old.role !== 'leader')
    expect(world.now - cutAt).toBeGreaterThan(SYNC_LIMIT * TICK - TICK)
    expect(world.now - cutAt).toBeLessThanOrEqual((SYNC_LIMIT + 2) * TICK)
    expect([reader.state, writer.state, writer.replies.length]).toEqual(['closed', 'closed', 0])
    world.ensemble.network.heal()
    world.runUntil(isWhole(world))
    world.run()
    expect(other!.isServing()).toBe(true)
    expect(new Set(world.ensemble.members.map(treeOf)).size).toBe(1)
    expect([has(old, '/new'), has(old, '/lost')]).toEqual([true, false])
  })

  it('Leader cut off from its followers does not let them answer a sync', () => {
    const world = World.ready()
    const client = world.client(world.followers[0]!)
    isolate(world, world.leader)
    client.sync()
    world.runUntil(() => client.state === 'closed')
    expect(client.replies).toEqual([])
  })
})

describe('Election', () => {
  it('Election keeps what was committed, and gives every session all of its time', () => {
    const world = World.ready()
    const client = world.client(world.followers[0]!)
    client.create('/e', { flags: 1 }).async()
    const old = world.leader
    const epoch = old.tree.lastProcessedZxid >> 32n
    // Nearly over when the leader dies.
    world.run(T - 500)
    old.kill()
    world.runUntil(() => world.ensemble.leader !== undefined)
    const electedAt = world.now
    expect(world.leader).not.toBe(old)
    expect(world.leader.tree.lastProcessedZxid).toBe((epoch + 1n) << 32n)
    world.runUntil(() => !has(world.leader, '/e'))
    expect(world.now - electedAt).toBeGreaterThan(T)
    expect(world.now - electedAt).toBeLessThanOrEqual(T + TICK)
  })

  it('Election keeps a proposal that only its winner has accepted', () => {
    const world = World.ready()
    const [first, second] = world.followers
    const client = world.client(world.leader)
    world.run(100)
    world.ensemble.network.cut(world.leader.name, first!.name)
    client.create('/kept')
    // On the second's disk; its ack, and so the commit, never come.
    world.run(1)
    world.leader.kill()
    world.ensemble.network.heal()
    world.runUntil(() => world.ensemble.leader !== undefined && first!.isServing())
    expect(world.leader).toBe(second)
    expect([has(first!, '/kept'), has(second!, '/kept')]).toEqual([true, true])
  })

  it('Election does not end while no quorum is in touch', () => {
    const world = World.ready()
    world.ensemble.network.partition()
    world.run(60_000)
    expect(world.ensemble.leader).toBe(undefined)
    expect(world.ensemble.members.map(({ role }) => role)).toEqual(['looking', 'looking', 'looking'])
    const client = new TestClient(world, world.ensemble.members[0]!).connect()
    expect(client.state).toBe('closed')
    let result: unknown
    world.ensemble.operate({ op: 'delete', request: { path: '/a', version: -1 } }, (lost) => (result = lost))
    expect(result).toEqual({ type: 'lost' })
    world.ensemble.network.heal()
    world.runUntil(isWhole(world))
  })
})

describe('Member.kill', () => {
  it('Member.kill and a long absence end in a snapshot', () => {
    const world = World.ready()
    const [follower] = world.followers
    const client = world.client(world.leader, 20 * TICK)
    follower!.kill()
    for (let i = 0; i < 2_500; i++) client.create(`/n-${i}`)
    world.run()
    const tree = follower!.tree
    follower!.restart()
    world.runUntil(isWhole(world))
    expect(follower!.tree).not.toBe(tree)
    expect(treeOf(follower!)).toBe(treeOf(world.leader))
  })

  it('Member.kill of all and their return lose nothing', () => {
    const world = World.ready()
    const client = world.client(world.leader)
    client.create('/a').async()
    for (const member of world.ensemble.members) member.kill()
    expect(world.ensemble.leader).toBe(undefined)
    world.run(10_000)
    for (const member of world.ensemble.members) member.restart()
    world.runUntil(isWhole(world))
    expect(world.ensemble.members.every((member) => has(member, '/a'))).toBe(true)
    const resumed = client.resume(world.leader)
    expect(resumed.state).toBe('established')
  })
})

describe('Member.freeze', () => {
  it('Member.freeze for a moment makes everything late, and nothing lost', () => {
    const world = World.ready()
    const [follower] = world.followers
    const client = world.client(follower!)
    follower!.freeze()
    client.create('/a').ping()
    world.run(3_000)
    expect(client.replies).toEqual([])
    expect(follower!.isFrozen).toBe(true)
    follower!.thaw()
    world.run()
    expect(client.replies.map(({ op }) => op)).toEqual(['create', 'ping'])
    expect(follower!.role).toBe('follower')
  })

  it('Member.freeze of a follower for longer than syncLimit costs it its leader', () => {
    const world = World.ready()
    const [follower] = world.followers
    const client = world.client(follower!)
    follower!.freeze()
    world.run(8_000)
    expect(client.state).toBe('established')
    follower!.thaw()
    world.run(10)
    expect(client.state).toBe('closed')
    world.runUntil(isWhole(world))
  })

  it('Member.freeze of the leader makes another one; thawed, it serves its clients until it notices', () => {
    const world = World.ready()
    const old = world.leader
    const client = world.client(old, 20 * TICK)
    world.run(100)
    old.freeze()
    client.get('/zookeeper').sync()
    world.runUntil(() => world.leader !== old)
    const other = world.client(world.leader)
    other.create('/a').async()
    old.thaw()
    expect(client.replies.map(({ op }) => op)).toEqual(['getData', 'sync'])
    expect(client.get('/a').lastReply).toMatchObject({ err: ErrorCode.NoNode })
    world.runUntil(() => client.state === 'closed', 2 * TICK)
    world.runUntil(isWhole(world))
    expect(has(old, '/a')).toBe(true)
  })
})

describe('Ensemble.operate', () => {
  it('Ensemble.operate changes the tree like any write', () => {
    const world = World.ready()
    const results: unknown[] = []
    const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
    const request = { path: '/a', data: null, acl, flags: 0 }
    world.ensemble.operate({ op: 'create', request }, (result) => results.push(result))
    world.ensemble.operate({ op: 'create', request }, (result) => results.push(result))
    world.ensemble.operate({ op: 'presetCounter', path: '/a', counter: 2_147_483_647 }, (result) =>
      results.push(result),
    )
    world.run()
    expect(results).toMatchObject([
      { type: 'done', err: 0, response: { path: '/a' } },
      { type: 'done', err: ErrorCode.NodeExists },
      { type: 'done', err: 0 },
    ])
    expect(world.ensemble.members.every((member) => member.tree.get('/a')!.cversion === 2_147_483_647)).toBe(true)
  })

  it('Ensemble.operate says when it lost its leader', () => {
    const world = World.ready()
    const results: unknown[] = []
    isolate(world, world.leader)
    world.ensemble.operate({ op: 'delete', request: { path: '/a', version: -1 } }, (result) => results.push(result))
    world.run(10_000)
    expect(results).toEqual([{ type: 'lost' }])
  })
})

describe('removals', () => {
  it.each([
    ['within a minute', {}, 60_000],
    ['at the check, which comes as often as the settings say', { containerCheckInterval: 700 }, 700],
  ])('removals: containers that had children and have none go %s', (_, settings, interval) => {
    const world = World.ready(3, settings)
    const client = world.client(world.leader, 20 * TICK)
    world.keepAlive(client, () => world.now > 2 * interval)
    for (const path of ['/used', '/fresh']) {
      const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
      client.send('createContainer', { path, data: null, acl, flags: 4 })
    }
    client.create('/used/child').send('delete', { path: '/used/child', version: -1 })
    world.run(interval + 100)
    expect(world.ensemble.members.map((member) => [has(member, '/used'), has(member, '/fresh')])).toEqual([
      [false, true],
      [false, true],
      [false, true],
    ])
  })
})

describe('Network', () => {
  it('Network knows no strangers', () => {
    const { network } = new World().ensemble
    const error = new RangeError('no member zk9: there are zk1, zk2, zk3')
    expect(() => network.cut('zk1', 'zk9')).toThrow(error)
    expect(() => network.heal('zk9')).toThrow(error)
    expect(() => network.partition(['zk1'], ['zk9'])).toThrow(error)
    expect(() => network.cut('zk1', 'zk1')).toThrow(RangeError)
  })

  it('Network heals one cut at a time, or all of one member', () => {
    const { network } = new World().ensemble
    network.partition()
    network.heal('zk1', 'zk2')
    expect([network.isCut('zk1', 'zk2'), network.isCut('zk1', 'zk3')]).toEqual([false, true])
    network.heal('zk3')
    expect([network.isCut('zk2', 'zk3'), network.isCut('zk1', 'zk3')]).toEqual([false, false])
  })
})
