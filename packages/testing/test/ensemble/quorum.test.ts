import { describe, expect, it } from 'vitest'
import { ErrorCode, has, treeOf, World } from './support/world.ts'

describe('Ensemble', () => {
  it('Ensemble elects the member with the largest number of those that know the same', () => {
    const world = World.ready()
    expect(world.ensemble.members.map(({ role }) => role)).toEqual(['follower', 'follower', 'leader'])
  })

  it('Ensemble lets time go on while a member finds no leader, however short an election may be', () => {
    const world = World.ready(3, { electionTime: () => 0 })
    const [first, second] = world.followers
    first!.kill()
    second!.kill()
    world.run(10_000)
    expect(world.ensemble.leader).toBeUndefined()
    first!.start()
    world.runUntil(() => world.ensemble.leader !== undefined)
  })

  it('Ensemble commits a write everywhere once a quorum has it', () => {
    const world = World.ready()
    const client = world.client(world.followers[0]!)
    const sentAt = world.now
    expect(client.create('/a').async()).toMatchObject({ op: 'create', err: 0, response: { path: '/a' } })
    // To the leader, to the followers, back again, and the commit.
    expect(world.now - sentAt).toBe(4)
    world.run()
    expect(world.ensemble.members.every((member) => has(member, '/a'))).toBe(true)
    expect(new Set(world.ensemble.members.map(treeOf)).size).toBe(1)
  })

  it('Ensemble commits with one of three down, and not with two', () => {
    const world = World.ready()
    const [first, second] = world.followers
    const client = world.client(world.leader)
    first!.kill()
    expect(client.create('/with-two').async().err).toBe(0)
    second!.kill()
    client.create('/alone')
    world.run(400)
    expect(client.lastReply!.response).toEqual({ path: '/with-two' })
    expect(has(world.leader, '/alone')).toBe(false)
  })

  it('Ensemble lets other sessions read on while one waits for its write', () => {
    const world = World.ready()
    const [follower] = world.followers
    const writer = world.client(follower!)
    const reader = world.client(follower!)
    writer.create('/a')
    expect(reader.get('/a').lastReply).toMatchObject({ err: ErrorCode.NoNode })
  })
})

describe('Member.lag', () => {
  it('Member.lag makes reads stale, and a sync wait until it has caught up', () => {
    const world = World.ready()
    const [slow, fast] = world.followers
    const reader = world.client(slow!)
    const writer = world.client(fast!)
    world.run()
    slow!.lag(500)
    writer.create('/a').async()
    world.run(100)
    expect(reader.get('/a').lastReply).toMatchObject({ err: ErrorCode.NoNode })
    const askedAt = world.now
    reader.sync().get('/a')
    world.run(1_000)
    expect(reader.replies.slice(-2)).toMatchObject([
      { op: 'sync', err: 0 },
      { op: 'getData', err: 0 },
    ])
    expect(reader.lastReply!.at).toBeGreaterThanOrEqual(askedAt + 500)
  })

  it('Member.lag answers pings at once, but not behind a write of the session', () => {
    const world = World.ready()
    const [slow] = world.followers
    const idle = world.client(slow!)
    const writer = world.client(slow!)
    world.run()
    slow!.lag(Infinity)
    expect(idle.ping().lastReply).toMatchObject({ op: 'ping', at: world.now })
    writer.create('/a').ping()
    world.run(900)
    expect(writer.replies).toEqual([])
    slow!.catchUp()
    expect(writer.replies.map(({ op }) => op)).toEqual(['create', 'ping'])
  })

  it('Member.lag of the leader delays only what it sends to its own clients', () => {
    const world = World.ready()
    const here = world.client(world.leader)
    const there = world.client(world.followers[0]!)
    world.leader.lag(500)
    there.create('/a').async()
    expect(here.get('/a').lastReply).toMatchObject({ err: ErrorCode.NoNode })
    // What is prepared meanwhile still builds on it.
    expect(there.create('/a/b').async().err).toBe(0)
    world.run(600)
    expect(has(world.leader, '/a/b')).toBe(true)
  })

  it('Member.lag ends whenever it is ended, also while the member joins the quorum', () => {
    for (let steps = 0, hasServed = false; !hasServed; steps++) {
      const world = World.ready()
      const [slow] = world.followers
      const writer = world.client(world.leader)
      slow!.kill()
      slow!.lag(5_000)
      slow!.restart()
      for (let step = 0; step < steps; step++) world.agenda.run(world.agenda.deadline())
      hasServed = slow!.isServing()
      slow!.catchUp()
      world.runUntil(() => slow!.isServing())
      writer.create('/a').async()
      world.run(100)
      expect(has(slow!, '/a'), `after ${steps} steps`).toBe(true)
    }
  })

  it('Member.lag cannot be negative', () => {
    const world = World.ready()
    expect(() => world.leader.lag(-1)).toThrow(new RangeError('zk3 cannot lag by -1 ms'))
  })
})

describe('StandaloneServer', () => {
  it('StandaloneServer answers within the turn in which it was asked', () => {
    const world = new World(1)
    expect(world.leader.role).toBe('standalone')
    const client = world.client(world.leader)
    client.create('/a').get('/a')
    expect(client.replies).toEqual([])
    world.agenda.run(world.now)
    expect(client.replies).toMatchObject([
      { op: 'create', err: 0 },
      { op: 'getData', err: 0 },
    ])
  })

  it('StandaloneServer prepares what comes together before it applies any of it', () => {
    const world = new World(1)
    const client = world.client(world.leader)
    const before = client.create('/a').async().zxid
    client.create('/a/n-', { flags: 2 }).create('/a/n-', { flags: 2 }).send('delete', { path: '/a', version: -1 })
    world.agenda.run(world.now)
    expect(client.replies.slice(1)).toMatchObject([
      { response: { path: '/a/n-0000000000' }, zxid: before + 1n },
      { response: { path: '/a/n-0000000001' }, zxid: before + 2n },
      { err: ErrorCode.NotEmpty, zxid: before + 3n },
    ])
  })

  it('StandaloneServer keeps its data over a restart, and gives every session all of its time', () => {
    const world = new World(1)
    const client = world.client(world.leader)
    client.create('/a', { flags: 1 }).async()
    const [member] = world.ensemble.members
    member!.kill()
    expect(client.state).toBe('closed')
    world.run(60_000)
    member!.restart()
    world.run(3_900)
    expect(has(member!, '/a')).toBe(true)
    world.run(1_200)
    expect(has(member!, '/a')).toBe(false)
  })
})
