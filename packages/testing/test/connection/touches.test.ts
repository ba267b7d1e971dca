// Which packets of a client touch its session: all that a server submits, whether they succeed or fail.
import { ErrorCode, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import type { EnsembleOptions } from '../../src/index.ts'
import { Bench, node, type RawClient } from '../support/bench.ts'

const T = 20_000
/** A touch after this much silence moves the session to another bucket of the leader, in ms. */
const SILENCE = 5_000
/** The leader collects the touches of its followers twice a tick; in ms. */
const RELAY = 1_001

const bytes = (text: string) => new TextEncoder().encode(text)

interface Place {
  readonly where: 'leader' | 'follower' | 'standalone'
}

const places: readonly Place[] = [{ where: 'leader' }, { where: 'follower' }, { where: 'standalone' }]

function setUp({ where }: Place, options: EnsembleOptions = {}) {
  const bench = new Bench({ members: where === 'standalone' ? 1 : 3, ...options })
  const member = bench.model.members.find(({ role }) => role === where)!
  const client = bench.connect({ member: member.name, timeOut: T })
  bench.pass(SILENCE)
  return { bench, client, member }
}

/** By how much the end of the session moves. */
function movedBy(bench: Bench, client: RawClient, ask: () => void): number {
  const expiresAt = () => bench.model.sessions.get(client.session)!.expiresAt
  const before = expiresAt()
  ask()
  bench.pass(RELAY)
  return expiresAt() - before
}

type Ask = (client: RawClient, bench: Bench) => void

const touching: readonly (readonly [string, number, Ask])[] = [
  ['a ping', 0, (client) => client.ask('ping', undefined, -2)],
  ['a read', 0, (client) => client.ask('getData', { path: '/', watch: false })],
  ['a read that fails', ErrorCode.NoNode, (client) => client.ask('getData', { path: '/nowhere', watch: false })],
  ['a write', 0, (client) => client.ask('create', node('/a'))],
  ['a write that fails', ErrorCode.NodeExists, (client) => client.ask('create', node('/'))],
  ['a sync', 0, (client) => client.ask('sync', { path: '/' })],
  [
    'setWatches',
    0,
    (client) => client.ask('setWatches', { relativeZxid: 0n, dataWatches: [], existWatches: [], childWatches: [] }, -8),
  ],
  [
    'a request that is cut short',
    ErrorCode.MarshallingError,
    (client) =>
      client.say({
        type: 'request',
        op: undefined,
        opCode: OpCode.getData,
        xid: 7,
        request: undefined,
        rest: bytes(''),
      }),
  ],
  [
    'an unknown request',
    ErrorCode.Unimplemented,
    (client) => client.say({ type: 'request', op: undefined, opCode: 999, xid: 7, request: undefined }),
  ],
  [
    'a createSession without a timeout',
    ErrorCode.MarshallingError,
    (client) =>
      client.say({ type: 'request', op: undefined, opCode: OpCode.createSession, xid: 7, request: undefined }),
  ],
  [
    'a request that a fault refuses',
    ErrorCode.ThrottledOp,
    (client, { model }) => {
      model.faults.fail({ op: 'sync', code: 'ThrottledOp' })
      client.ask('sync', { path: '/' })
    },
  ],
]

describe.each(places)('ZooKeeperServer, $where', (place) => {
  test.each(touching)('ZooKeeperServer touches the session for %s', (_, err, ask) => {
    const { bench, client } = setUp(place)
    expect(movedBy(bench, client, () => ask(client, bench))).toBeGreaterThanOrEqual(4_000)
    expect(client.replies.map((reply) => reply.err)).toEqual([err])
  })

  test.each<readonly [string, number, Ask]>([
    ['auth', 0, (client) => client.ask('auth', { type: 0, scheme: 'digest', auth: bytes('ann:secret') }, -4)],
    [
      'auth that is refused',
      ErrorCode.AuthFailed,
      (client) => client.ask('auth', { type: 0, scheme: 'kerberos', auth: bytes('x') }, -4),
    ],
    ['sasl', 0, (client) => client.ask('sasl', { token: bytes('') })],
  ])('ZooKeeperServer does not touch the session for %s', (_, err, ask) => {
    const { bench, client } = setUp(place)
    expect(movedBy(bench, client, () => ask(client, bench))).toBe(0)
    expect(client.replies.map((reply) => reply.err)).toEqual([err])
  })

  test('ZooKeeperServer does not touch the session for a request that is refused before SASL authentication', () => {
    const { bench, client } = setUp(place, { sasl: { users: { bob: 'secret' }, required: true } })
    expect(movedBy(bench, client, () => client.ask('getData', { path: '/', watch: false }))).toBe(0)
    expect(client.replies).toMatchObject([{ err: ErrorCode.SessionClosedRequireSaslAuth }])
  })

  test('ZooKeeperServer lets a session expire that sends credentials only', () => {
    const { bench, client } = setUp(place)
    for (let at = 0; at < T + 2_000; at += 500) {
      if (client.closed === undefined) client.ask('auth', { type: 0, scheme: 'digest', auth: bytes('ann:secret') }, -4)
      bench.pass(500)
    }
    expect(client.closed).toBe('end')
    expect(bench.model.sessions.get(client.session)).toBeUndefined()
  })

  test('RequestThrottler touches the session for a waiting request when its turn comes', () => {
    const { bench, client, member } = setUp(place, { requestThrottleMaxRequests: 1 })
    member.lag(3 * SILENCE)
    const waits = () => {
      client.ask('create', node('/a'))
      client.ask('getData', { path: '/', watch: false })
    }
    expect(movedBy(bench, client, waits)).toBeGreaterThan(0)
    bench.pass(SILENCE)
    expect(movedBy(bench, client, () => bench.pass(SILENCE))).toBe(0)
    expect(movedBy(bench, client, () => member.catchUp())).toBeGreaterThan(0)
    expect(client.replies).toHaveLength(2)
  })
})

test('RequestThrottler touches the session also for a request that has waited too long', () => {
  const { bench, client, member } = setUp(
    { where: 'standalone' },
    { requestThrottleMaxRequests: 1, throttledOpWaitTime: 1 },
  )
  member.lag(Infinity)
  client.ask('create', node('/a'))
  client.ask('getData', { path: '/', watch: false })
  bench.pass(SILENCE)
  expect(movedBy(bench, client, () => member.catchUp())).toBeGreaterThan(0)
  expect(client.replies.map(({ err }) => err)).toEqual([0, ErrorCode.ThrottledOp])
})
