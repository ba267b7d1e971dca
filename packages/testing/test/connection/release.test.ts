import { ErrorCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { Bench } from '../support/bench.ts'

describe('release', () => {
  test('release: newer operations are answered with -6, ahead of waiting requests, and the connection is closed', () => {
    const bench = new Bench({ members: 3, release: '3.6' })
    const follower = bench.model.members.find(({ role }) => role === 'follower')!
    const client = bench.connect({ member: follower.name })
    follower.lag(Infinity)
    client.ask('sync', { path: '/' })
    client.ask('whoAmI', undefined)
    expect(client.replies.map(({ op, err, zxid }) => [op, err, zxid])).toEqual([
      ['whoAmI', ErrorCode.Unimplemented, -1n],
    ])
    expect(client.closed).toBe('end')
    // The session goes on.
    expect(bench.model.sessions.get(client.session)).toBeDefined()
  })
})
