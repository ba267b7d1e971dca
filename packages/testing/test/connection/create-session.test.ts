// A createSession from a client that has a session, where no recorded scenario shows it.
import { ErrorCode, OpCode } from '@zk/wire'
import { expect, test } from 'vitest'
import type { EnsembleOptions } from '../../src/index.ts'
import { Bench } from '../support/bench.ts'

const T = 4_000

const rest = new Uint8Array(4)
new DataView(rest.buffer).setInt32(0, T)
const createSession = {
  type: 'request',
  op: undefined,
  opCode: OpCode.createSession,
  xid: 7,
  request: undefined,
  rest,
} as const

function setUp(options: EnsembleOptions) {
  const bench = new Bench({ members: 3, ...options })
  const member = bench.model.members.find(({ role }) => role === 'follower')!
  return { bench, member, client: bench.connect({ member: member.name, timeOut: T }) }
}

test('createSession at a read-only member returns its session', () => {
  const { bench, member } = setUp({ readOnlyMode: true, tickTime: 100 })
  for (const other of bench.model.members) if (other !== member) other.kill()
  bench.pass(5_000)
  expect(member.role).toBe('read-only')
  const client = bench.dial(member.name)!
  client.handshake({ readOnly: true })
  bench.pass(0)
  client.say(createSession)
  bench.pass(0)
  const [established] = client.chunks
  expect(client.chunks).toEqual([established, established])
})

test('createSession behind a closeSession that is not applied yet is refused', () => {
  const { bench, client } = setUp({ latency: 10 })
  bench.pass(100)
  const zxid = bench.model.leader!.zxid
  client.say({ type: 'request', op: 'closeSession', opCode: OpCode.closeSession, xid: 1, request: undefined })
  client.say(createSession)
  bench.pass(100)
  const txns = bench.model.committedAfter(zxid)!.map(({ txn }) => txn)
  expect(txns).toMatchObject([{ type: 'closeSession' }, { type: 'error', err: ErrorCode.SessionExpired }])
  expect(bench.model.sessions.list()).toEqual([])
})
