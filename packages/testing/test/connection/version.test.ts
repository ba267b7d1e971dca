import { ErrorCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { Bench } from '../support/bench.ts'

describe('version', () => {
  test('version: newer operations are answered with -6, ahead of waiting requests, and the connection is closed', () => {
    const bench = new Bench({ members: 3, version: '3.6' })
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

  test('version: operations of the release of the servers are executed', () => {
    const client = new Bench({ members: 1, version: '3.6' }).connect()
    client.ask('getAllChildrenNumber', { path: '/zookeeper' })
    expect(client.replies.at(-1)).toMatchObject({ err: 0, response: { totalNumber: 2 } })
  })

  test('version: a TTL where it is not enabled is Unimplemented, and the connection stays', () => {
    const client = new Bench().connect()
    const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
    client.ask('createTTL', { path: '/a', data: null, acl, flags: 5, ttl: 5n })
    expect(client.replies.at(-1)).toMatchObject({ err: ErrorCode.Unimplemented })
    expect(client.closed).toBeUndefined()
  })
})
