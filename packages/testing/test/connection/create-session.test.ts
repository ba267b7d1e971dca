// A createSession from a client that has a session: servers handle it like a createSession of their own.
import { ErrorCode, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import type { EnsembleOptions, Role } from '../../src/index.ts'
import { Bench, node } from '../support/bench.ts'

const T = 4_000

const createSession = (timeOut: number | undefined, xid = 7) => {
  const rest = new Uint8Array(timeOut === undefined ? 0 : 4)
  if (timeOut !== undefined) new DataView(rest.buffer).setInt32(0, timeOut)
  return { type: 'request', op: undefined, opCode: OpCode.createSession, xid, request: undefined, rest } as const
}

function setUp(role: Role, options: EnsembleOptions = {}) {
  const bench = new Bench({ members: role === 'standalone' ? 1 : 3, ...options })
  const member = bench.model.members.find((each) => each.role === role)!
  return { bench, member, client: bench.connect({ member: member.name, timeOut: T }) }
}

describe.each(['leader', 'follower', 'standalone'] as const)('createSession at a %s', (role) => {
  test('is answered with the bytes of the answer to the handshake, whatever its xid and its timeout', () => {
    const { bench, client } = setUp(role)
    const [established] = client.chunks
    expect(established).toHaveLength(4 + 37)
    for (const message of [createSession(T), createSession(-1), createSession(40_000, 0), createSession(T, -2)]) {
      const before = client.chunks.length
      client.say(message)
      bench.pass(0)
      expect(client.chunks.slice(before)).toEqual([established])
    }
    client.ask('exists', { path: '/', watch: false }, 50)
    bench.pass(0)
    expect(client.messages.at(-1)).toMatchObject({ type: 'reply', xid: 50, err: 0 })
    expect(client.closed).toBeUndefined()
  })

  test('is a transaction, and keeps its place among the requests of its session', () => {
    const { bench, client } = setUp(role)
    client.ask('create', node('/a'))
    client.say(createSession(T))
    client.ask('delete', { path: '/a', version: -1 })
    bench.pass(0)
    const zxids = client.replies.filter(({ xid }) => xid !== 0).map(({ zxid }) => zxid)
    expect(zxids[1]! - zxids[0]!).toBe(2n)
    expect(client.replies.map(({ xid }) => xid)).toEqual([1, 0, 2])
  })

  test('without a timeout is answered MarshallingError', () => {
    const { bench, client } = setUp(role)
    client.say(createSession(undefined))
    bench.pass(0)
    expect(client.replies).toMatchObject([{ xid: 7, err: ErrorCode.MarshallingError }])
    expect(client.closed).toBeUndefined()
  })
})

test('createSession at a read-only member returns its session', () => {
  const { bench, member } = setUp('follower', { readOnlyMode: true, tickTime: 100 })
  for (const other of bench.model.members) if (other !== member) other.kill()
  bench.pass(5_000)
  expect(member.role).toBe('read-only')
  const client = bench.dial(member.name)!
  client.handshake({ readOnly: true })
  bench.pass(0)
  client.say(createSession(T))
  bench.pass(0)
  const [established] = client.chunks
  expect(client.chunks).toEqual([established, established])
})

test('createSession behind a closeSession that is not applied yet is refused', () => {
  const { bench, client } = setUp('follower', { latency: 10 })
  bench.pass(100)
  const zxid = bench.model.leader!.zxid
  client.say({ type: 'request', op: 'closeSession', opCode: OpCode.closeSession, xid: 1, request: undefined })
  client.say(createSession(T))
  bench.pass(100)
  const txns = bench.model.committedAfter(zxid)!.map(({ txn }) => txn)
  expect(txns).toMatchObject([{ type: 'closeSession' }, { type: 'error', err: ErrorCode.SessionExpired }])
  expect(bench.model.sessions.list()).toEqual([])
})
