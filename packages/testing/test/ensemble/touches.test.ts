// Until when a session lives: whose timeout counts, and which touches get lost.
import { describe, expect, it } from 'vitest'
import type { Member } from '../../src/ensemble/index.ts'
import { TestClient, TICK, World } from './support/world.ts'

/** A leader asks its followers for touches so often, and a message takes 1 ms each way. */
const RELAY = TICK / 2 + 3

const expiresAt = (world: World, { sessionId }: TestClient) => world.ensemble.sessions.get(sessionId)!.expiresAt
const roundedUp = (time: number) => (Math.floor(time / TICK) + 1) * TICK

/** The same session, on another connection with another timeout. */
function resume(world: World, client: TestClient, member: Member, timeOut: number): TestClient {
  const { sessionId, passwd } = client
  const resumed = new TestClient(world, member).connect({ sessionId, passwd, timeOut })
  world.runUntil(() => resumed.state === 'established')
  return resumed
}

function electAnother(world: World): Member {
  const { leader } = world
  leader.kill()
  world.runUntil(() => world.ensemble.leader !== undefined && world.ensemble.leader !== leader)
  return world.leader
}

describe('SessionTracker', () => {
  it.each([
    ['a longer', 2 * TICK, 10 * TICK],
    ['a shorter', 10 * TICK, 2 * TICK],
  ])(
    'SessionTracker of a new leader counts the timeout of the creation, also of a session that was resumed with %s one',
    (_, created, resumedWith) => {
      const world = World.ready()
      const [follower] = world.followers
      const client = world.client(follower!, created)
      const resumed = resume(world, client, follower!, resumedWith)
      expect(resumed.timeOut).toBe(resumedWith)
      world.run(TICK)
      electAnother(world)
      expect(expiresAt(world, resumed)).toBe(roundedUp(world.now + created))
    },
  )

  it('SessionTracker of a new leader counts the timeout of the creation where the leader has it from a snapshot', () => {
    const world = World.ready()
    const [behind, other] = world.followers
    behind!.kill()
    const client = world.client(other!, 3 * TICK)
    const resumed = resume(world, client, other!, 12 * TICK)
    const writer = world.client(other!, 20 * TICK)
    // More than a log keeps for members that come back.
    for (let each = 0; each < 1_100; each++) writer.set('/', '')
    world.runUntil(() => writer.replies.length === 1_100)
    behind!.restart()
    world.runUntil(() => behind!.isServing())
    other!.kill()
    world.leader.kill()
    other!.restart()
    world.runUntil(() => world.ensemble.leader !== undefined)
    expect(expiresAt(world, resumed)).toBe(roundedUp(world.now + 3 * TICK))
  })

  it('SessionTracker gets from a follower the timeout of the touched connection, longer or shorter', () => {
    const world = World.ready()
    const [follower, other] = world.followers
    const client = world.client(follower!, 4 * TICK)
    const longer = resume(world, client, other!, 12 * TICK)
    world.run(TICK)
    longer.ping()
    const pingedAt = world.now
    world.run(RELAY)
    expect(expiresAt(world, longer)).toBeGreaterThanOrEqual(roundedUp(pingedAt + 12 * TICK))
    const shorter = resume(world, longer, follower!, 2 * TICK)
    world.run(RELAY)
    shorter.ping()
    world.run(RELAY)
    expect(expiresAt(world, shorter)).toBeLessThanOrEqual(roundedUp(world.now + 2 * TICK))
  })

  it('SessionTracker moves an end back for a touch with a shorter timeout, and ends the session then', () => {
    const world = new World(1)
    const client = world.client(world.leader, 20 * TICK)
    const before = expiresAt(world, client)
    const shorter = resume(world, client, world.leader, 2 * TICK)
    expect(expiresAt(world, shorter)).toBe(roundedUp(world.now + 2 * TICK))
    expect(expiresAt(world, shorter)).toBeLessThan(before)
    world.run(3 * TICK)
    expect(shorter.state).toBe('closed')
    expect(world.ensemble.sessions.list()).toEqual([])
  })

  it('SessionTracker of the leader gets a touch of a new session from every follower, with the timeout of its creation', () => {
    const world = World.ready()
    const [follower, other] = world.followers
    const client = world.client(follower!, 4 * TICK)
    const createdAt = world.now
    // The one that has the client says nothing; the other has applied the creation.
    world.ensemble.network.stall(follower!.name, world.leader.name)
    world.run(RELAY)
    expect(other!.isServing()).toBe(true)
    expect(expiresAt(world, client)).toBe(roundedUp(createdAt + RELAY - 3 + 4 * TICK))
  })
})

describe('TouchTable', () => {
  const quiet = (world: World) => {
    const client = world.client(world.followers[0]!, 10 * TICK)
    world.run(2 * TICK)
    return { client, follower: world.followers[0]!, before: expiresAt(world, client) }
  }

  it('TouchTable loses the next touch on request, and the leader never gets that one', () => {
    const world = World.ready()
    const { client, follower, before } = quiet(world)
    expect(follower.loseTouch()).toBe(true)
    client.ping()
    expect(client.replies).toMatchObject([{ op: 'ping', err: 0 }])
    world.run(2 * TICK)
    expect(expiresAt(world, client)).toBe(before)
  })

  it('TouchTable loses one touch only: of two in one segment the second is relayed', () => {
    const world = World.ready()
    const { client, follower, before } = quiet(world)
    follower.loseTouch()
    client.ping().ping()
    world.run(RELAY)
    expect(expiresAt(world, client)).toBeGreaterThan(before)
  })

  it('TouchTable is of followers: a leader, or a server alone, loses no touch', () => {
    expect(World.ready().leader.loseTouch()).toBe(false)
    expect(new World(1).leader.loseTouch()).toBe(false)
  })
})

describe('Network', () => {
  const watched = () => {
    const world = World.ready()
    const follower = world.followers[0]!
    const client = world.client(follower, 10 * TICK)
    world.run(2 * TICK)
    return { world, follower: follower.name, leader: world.leader.name, client, before: expiresAt(world, client) }
  }

  it('Network stalls one way: a follower that gets no messages commits its write all the same, and relays no touch', () => {
    const { world, follower, leader, client, before } = watched()
    world.ensemble.network.stall(leader, follower)
    client.ping().create('/a')
    world.run(2 * TICK)
    expect(world.leader.tree.get('/a')).toBeDefined()
    expect(client.replies.map(({ op }) => op)).toEqual(['ping'])
    expect(expiresAt(world, client)).toBe(before)
    world.ensemble.network.resume(leader, follower)
    world.run(10)
    expect(client.replies.map(({ op }) => op)).toEqual(['ping', 'create'])
    expect(expiresAt(world, client)).toBeGreaterThan(before)
  })

  it('Network stalls the other way: a follower whose messages do not arrive learns of commits, and its touches wait', () => {
    const { world, follower, leader, client, before } = watched()
    const other = world.client(world.leader, 10 * TICK)
    world.ensemble.network.stall(follower, leader)
    client.ping()
    other.create('/a')
    world.run(2 * TICK)
    expect(world.ensemble.member(follower).tree.get('/a')).toBeDefined()
    expect(expiresAt(world, client)).toBe(before)
    world.ensemble.network.resume(follower, leader)
    world.run(10)
    expect(expiresAt(world, client)).toBeGreaterThan(before)
  })

  it('Network stalls one way after the other, and the answer to a write overtakes no touch', () => {
    const { world, follower, leader, client, before } = watched()
    const { network } = world.ensemble
    network.stall(leader, follower)
    client.create('/a')
    world.run(2 * TICK)
    network.stall(follower, leader)
    network.resume(leader, follower)
    world.run(TICK)
    expect(client.replies).toMatchObject([{ op: 'create', err: 0 }])
    expect(expiresAt(world, client)).toBe(before)
  })

  it('Network that stalls one way between all of them has no election succeed until it is healed', () => {
    const world = World.ready()
    const names = world.ensemble.members.map(({ name }) => name)
    for (const from of names) for (const to of names) if (from < to) world.ensemble.network.stall(from, to)
    world.leader.kill()
    world.run(30 * TICK)
    expect(world.ensemble.leader).toBeUndefined()
    world.ensemble.network.heal()
    world.runUntil(() => world.ensemble.leader !== undefined)
  })
})

describe('memberOptions', () => {
  it('memberOptions give a member limits of its own: a session that comes to it changes its timeout', () => {
    const world = World.ready(3, {
      memberOptions: { zk2: { minSessionTimeout: 2 * TICK, maxSessionTimeout: 3 * TICK } },
    })
    expect(world.client(world.ensemble.member('zk1'), 9 * TICK).timeOut).toBe(9 * TICK)
    const client = world.client(world.ensemble.member('zk3'), 9 * TICK)
    expect(resume(world, client, world.ensemble.member('zk2'), 9 * TICK).timeOut).toBe(3 * TICK)
    expect(expiresAt(world, client)).toBeLessThanOrEqual(roundedUp(world.now + 3 * TICK))
  })
})
