// Which request a transaction answers: a server looks at session and xid, at nothing else (CommitProcessor).
import { ErrorCode } from '@zk/wire'
import { describe, expect, it } from 'vitest'
import { releaseOf } from '../../src/database/index.ts'
import { type TestClient, T, World } from './support/world.ts'

/**
 * A follower has a client of a session whose write of before, by another connection, the leader has proposed. It is committed
 * when the follower's own requests reach the leader no more.
 */
function committedLate(ask: (next: TestClient) => void, name = '3.9') {
  const world = World.ready(3, { release: releaseOf(name)! })
  const { network } = world.ensemble
  const [follower, third] = world.followers
  const leader = world.leader.name
  const first = world.client(world.leader, 10 * T)
  network.stall(leader, follower!.name)
  network.stall(third!.name, leader)
  first.create('/late')
  world.run()
  const next = first.resume(follower!)
  world.run()
  network.stall(follower!.name, leader)
  network.resume(leader, follower!.name)
  world.runUntil(() => next.state === 'established')
  ask(next)
  network.resume(third!.name, leader)
  world.run()
  expect(follower!.tree.get('/late')).toBeDefined()
  const early = [...next.replies]
  network.resume(follower!.name, leader)
  world.run()
  return { early, replies: next.replies, follower: follower! }
}

describe('CommitProcessor', () => {
  it.each([
    ['3.8', ErrorCode.MarshallingError],
    ['3.9', ErrorCode.Ok],
  ] as const)(
    'CommitProcessor of %s answers a sync by a write of before with its xid, and then again',
    (release, err) => {
      const { early, replies } = committedLate((next) => next.sync(), release)
      expect(early).toMatchObject([{ op: 'sync', err: 0, response: { path: '/' } }])
      expect(replies).toMatchObject([
        { op: 'sync', err: 0 },
        { op: 'sync', err },
      ])
    },
  )

  it('CommitProcessor answers a write by a write of before with its xid, and does it all the same', () => {
    const { early, replies, follower } = committedLate((next) => next.create('/mine'))
    expect(early).toMatchObject([{ op: 'create', err: 0, response: { path: '/late' } }])
    expect(replies).toHaveLength(1)
    expect(follower.tree.get('/mine')).toBeDefined()
  })

  it('CommitProcessor leaves a sync alone whose xid is another one', () => {
    const { early, replies } = committedLate((next) => next.get('/').sync())
    expect(early.map(({ op }) => op)).toEqual(['getData'])
    expect(replies).toMatchObject([{ op: 'getData' }, { op: 'sync', err: 0 }])
  })
})
