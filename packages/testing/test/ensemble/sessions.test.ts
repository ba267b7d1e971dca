import { describe, expect, it } from 'vitest'
import { has, T, TICK, World } from './support/world.ts'

describe('SessionTracker', () => {
  it.each([0, 1, 250, 999])(
    'SessionTracker ends a session in (T, T + tick] after its last touch, %i ms into a tick',
    (ms) => {
      const world = new World(1)
      world.run(ms)
      const client = world.client(world.leader)
      client.create('/e', { flags: 1 }).async()
      const heardAt = world.now
      world.runUntil(() => !has(world.leader, '/e'))
      expect(world.now - heardAt).toBeGreaterThan(T)
      expect(world.now - heardAt).toBeLessThanOrEqual(T + TICK)
      expect(client).toMatchObject({ state: 'closed', closedAt: world.now })
    },
  )

  it("SessionTracker gets the touches of a follower's clients when the follower answers the next ping", () => {
    const world = World.ready()
    const client = world.client(world.followers[0]!)
    const expiresAt = () => world.ensemble.sessions.get(client.sessionId)!.expiresAt
    world.run(TICK * 2)
    // Once relayed, the touch of the handshake is forgotten.
    const before = expiresAt()
    client.ping()
    expect(expiresAt()).toBe(before)
    world.run(TICK / 2 + 2)
    const relayed = expiresAt()
    expect(relayed).toBeGreaterThan(before)
    world.run(TICK * 2)
    expect(expiresAt()).toBe(relayed)
  })

  it("SessionTracker gets no touch of a follower's client by a write", () => {
    const world = World.ready()
    const client = world.client(world.followers[0]!)
    world.run(TICK * 2)
    const { expiresAt } = world.ensemble.sessions.get(client.sessionId)!
    client.create('/a')
    world.runUntil(() => client.replies.length === 1)
    expect(world.ensemble.sessions.get(client.sessionId)!.expiresAt).toBe(expiresAt)
  })
})

describe('Sessions', () => {
  it.each([0, 1, 2])(
    'Sessions whose end is on its way are neither served, nor resumed, nor prolonged (member %i)',
    (of) => {
      for (const at of [0, 1, 2]) {
        const world = World.ready()
        const members = [world.leader, ...world.followers]
        const client = world.client(members[of]!)
        world.run(TICK)
        const { expiresAt } = world.ensemble.sessions.get(client.sessionId)!
        world.ensemble.sessions.expire(client.sessionId)
        expect(world.ensemble.sessions.get(client.sessionId)).toMatchObject({ expiresAt, isClosing: true })
        client.ping().create('/late')
        const resumed = client.resume(members[at]!)
        const notified = world.ensemble.sessions.get(client.sessionId)
        expect(notified).toMatchObject({ expiresAt, isClosing: true })
        world.runUntil(() => resumed.state !== 'connecting')
        expect(resumed.state).toBe('expired')
        world.run()
        expect(world.ensemble.sessions.get(client.sessionId)).toBeUndefined()
        expect(client.state).toBe('closed')
        expect(has(world.leader, '/late')).toBe(false)
        // A follower answers pings by itself, the leader none of a session that it ends.
        expect(client.replies.map(({ op }) => op)).toEqual(of === 0 ? [] : ['ping'])
      }
    },
  )

  it('Sessions are resumed with the password, at any member, and touched by that', () => {
    const world = World.ready()
    const [first, second] = world.followers
    const client = world.client(first!)
    world.run(3_000)
    const before = world.ensemble.sessions.get(client.sessionId)!
    const resumed = client.resume(second!)
    world.runUntil(() => resumed.state !== 'connecting')
    expect(resumed).toMatchObject({ state: 'established', sessionId: client.sessionId, timeOut: T })
    const after = world.ensemble.sessions.get(client.sessionId)!
    expect(after.member).toBe(second!.name)
    expect(after.expiresAt).toBeGreaterThan(before.expiresAt)
  })

  it('Sessions can be moved by an operator, so that the next multi closes the connection', () => {
    const world = World.ready()
    const client = world.client(world.followers[0]!)
    expect(world.ensemble.sessions.move(client.sessionId, world.leader.name)).toBe(true)
    client.send('multi', [{ type: 13, op: 'check', request: { path: '/', version: -1 } }] as never)
    world.run()
    expect(client).toMatchObject({ state: 'closed', replies: [] })
    expect(world.ensemble.sessions.move(77n, world.leader.name)).toBe(false)
    expect(world.ensemble.sessions.move(client.sessionId, 'nobody')).toBe(false)
  })

  it('Sessions are moved to a follower behind the writes that it has relayed for an older connection', () => {
    const world = World.ready()
    const [follower] = world.followers
    const client = world.client(follower!)
    world.ensemble.network.stall(follower!.name, world.leader.name)
    client.create('/late')
    world.run()
    client.resume(world.leader)
    world.run()
    expect(world.ensemble.sessions.move(client.sessionId, follower!.name)).toBe(true)
    expect(world.ensemble.sessions.get(client.sessionId)!.member).toBe(world.leader.name)
    world.ensemble.network.heal()
    world.run()
    expect(world.ensemble.sessions.get(client.sessionId)!.member).toBe(follower!.name)
    expect(has(world.leader, '/late')).toBe(false)
  })

  it('Sessions can be expired by an operator, wherever their connection is', () => {
    const world = World.ready()
    const client = world.client(world.followers[0]!)
    client.create('/e', { flags: 1 }).async()
    expect(world.ensemble.sessions.expire(client.sessionId)).toBe(true)
    expect(world.ensemble.sessions.expire(client.sessionId)).toBe(false)
    expect(world.ensemble.sessions.get(client.sessionId)!.isClosing).toBe(true)
    world.run()
    expect(client.state).toBe('closed')
    expect(has(world.leader, '/e')).toBe(false)
    expect(world.ensemble.sessions.list()).toEqual([])
    const resumed = client.resume(world.leader)
    expect(resumed.state).toBe('expired')
  })

  it('Sessions that are ending get SessionExpired for a write, at the leader no answer', () => {
    const world = World.ready(3, { latency: () => 50 })
    const there = world.client(world.followers[0]!)
    const here = world.client(world.leader)
    world.ensemble.sessions.expire(here.sessionId)
    here.create('/here')
    // On its way when the end of its session is decided.
    there.create('/there')
    world.ensemble.sessions.expire(there.sessionId)
    world.run(300)
    expect(here).toMatchObject({ state: 'closed', replies: [] })
    expect(there.state).toBe('closed')
    expect(has(world.leader, '/there')).toBe(false)
  })

  it('Sessions leave their old connection at the same member at once', () => {
    const world = World.ready()
    const client = world.client(world.followers[0]!)
    const resumed = client.resume(world.followers[0]!)
    expect(client.state).toBe('closed')
    world.run()
    expect(resumed.state).toBe('established')
  })

  it('Sessions are closed by their client, with what goes with them', () => {
    const world = World.ready()
    const client = world.client(world.followers[0]!)
    client.create('/e', { flags: 1 }).send('closeSession', undefined)
    world.run()
    expect(client.replies.map(({ op, err }) => [op, err])).toEqual([
      ['create', 0],
      ['closeSession', 0],
    ])
    expect(client.state).toBe('closed')
    expect(world.ensemble.members.some((member) => has(member, '/e'))).toBe(false)
  })

  it('Sessions are refused by a member that has seen less than their client', () => {
    const world = World.ready()
    const ahead = (world.leader.tree.lastProcessedZxid & ~0xffffffffn) + 77n
    for (const member of world.ensemble.members) {
      const { sessionId, passwd } = world.client(member)
      expect(world.client(member).resume(member).connect({ sessionId, passwd, lastZxidSeen: ahead }).state).toBe(
        'closed',
      )
    }
  })
})

describe('ZooKeeperServer', () => {
  it('ZooKeeperServer fires watches where they were set, when the change gets there', () => {
    const world = World.ready()
    const [slow, fast] = world.followers
    const watcher = world.client(slow!)
    const other = world.client(fast!)
    other.create('/a').async()
    world.run()
    watcher.get('/a', true)
    slow!.lag(300)
    other.set('/a', 'x').async()
    world.run(100)
    expect(watcher.events).toEqual([])
    world.run(300)
    expect(watcher.events).toEqual([{ type: 'NodeDataChanged', path: '/a' }])
  })

  it('ZooKeeperServer forgets watches with their connection', () => {
    const world = World.ready()
    const [follower] = world.followers
    const watcher = world.client(follower!)
    watcher.send('exists', { path: '/a', watch: true })
    expect(follower!.tree.watchCount).toBe(1)
    follower!.disconnected(watcher)
    expect(follower!.tree.watchCount).toBe(0)
  })
})
