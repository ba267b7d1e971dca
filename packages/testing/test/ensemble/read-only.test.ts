import { ErrorCode, type OperationName, type ReplyMessage, type RequestOf } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import type { EnsembleOptions } from '../../src/index.ts'
import { Bench, node, type RawClient } from '../support/bench.ts'

const TICK = 2_000
/** Until a follower that is cut off has noticed, and has looked for a tick. */
const UNTIL_READ_ONLY = 5 * TICK + 2 * TICK

/** Three members, of which zk1 is left alone; `before` has a session there from before. */
function cutOff(options: EnsembleOptions = {}) {
  const bench = new Bench({ members: 3, tickTime: TICK, readOnlyMode: true, ...options })
  const before = bench.connect({ member: 'zk1' })
  before.ask('create', node('/a'))
  bench.pass(100)
  bench.model.network.isolate('zk1')
  bench.pass(UNTIL_READ_ONLY)
  return { bench, before }
}

function readOnlyClient(bench: Bench, fields: Parameters<RawClient['handshake']>[0] = {}): RawClient {
  const client = bench.dial('zk1')!
  client.handshake({ readOnly: true, ...fields })
  bench.pass(0)
  return client
}

function answer<Name extends OperationName>(
  bench: Bench,
  client: RawClient,
  op: Name,
  request: RequestOf<Name>['request'],
): ReplyMessage | undefined {
  client.ask(op, request)
  bench.pass(0)
  return client.replies.at(-1)
}

const word = (bench: Bench, text: string) => {
  const client = bench.dial('zk1')!
  client.raw(new TextEncoder().encode(text))
  return client.text
}

describe('A member without a quorum, with readOnlyMode', () => {
  test('a member that is cut off is looking for a tick, and then serves read-only', () => {
    const bench = new Bench({ members: 3, tickTime: TICK, readOnlyMode: true })
    bench.model.network.isolate('zk1')
    bench.pass(5 * TICK + TICK / 2)
    expect(bench.model.member('zk1').role).toBe('looking')
    expect(word(bench, 'isro')).toBe('null')
    bench.pass(TICK)
    expect(bench.model.member('zk1').role).toBe('read-only')
    expect(word(bench, 'isro')).toBe('ro')
    expect(word(bench, 'srvr')).toContain('Mode: read-only\n')
    expect(bench.model.isServing).toBe(true)
  })

  test('a read-only member takes clients that agreed to that, and says so in its answer', () => {
    const { bench } = cutOff()
    expect(readOnlyClient(bench).connected).toMatchObject({ readOnly: true, timeOut: 4_000 })
    for (const readOnly of [false, undefined]) {
      const refused = readOnlyClient(bench, { readOnly })
      expect([refused.connected, refused.closed]).toEqual([undefined, 'end'])
    }
  })

  test('a read-only member refuses the sessions of the ensemble, and keeps those it gave itself', () => {
    const { bench, before } = cutOff()
    expect(before.closed).toBe('end')
    const refused = readOnlyClient(bench, { sessionId: before.session, passwd: before.connected!.passwd })
    expect([refused.connected, refused.closed]).toEqual([undefined, 'end'])
    const first = readOnlyClient(bench)
    const again = readOnlyClient(bench, { sessionId: first.session, passwd: first.connected!.passwd })
    expect(again.connected).toEqual(first.connected)
    expect(first.closed).toBe('end')
  })

  test('a read-only member before 3.7 resumes the sessions of the ensemble', () => {
    const { bench, before } = cutOff({ release: '3.6' })
    const resumed = readOnlyClient(bench, { sessionId: before.session, passwd: before.connected!.passwd })
    expect(resumed.connected).toMatchObject({ sessionId: before.session, readOnly: true })
  })

  test('a read-only member serves reads, watches and pings', () => {
    const { bench } = cutOff()
    const client = readOnlyClient(bench)
    expect(answer(bench, client, 'getData', { path: '/a', watch: true })).toMatchObject({ err: ErrorCode.Ok })
    expect(answer(bench, client, 'getChildren2', { path: '/', watch: false })).toMatchObject({ err: ErrorCode.Ok })
    expect(answer(bench, client, 'exists', { path: '/b', watch: true })).toMatchObject({ err: ErrorCode.NoNode })
    expect(answer(bench, client, 'ping', undefined)).toMatchObject({ err: ErrorCode.Ok })
  })

  test.each<[OperationName, unknown]>([
    ['create', node('/b')],
    ['create2', node('/b')],
    ['delete', { path: '/a', version: -1 }],
    ['setData', { path: '/a', data: null, version: -1 }],
    ['setACL', { path: '/a', acl: [], version: -1 }],
    ['sync', { path: '/' }],
    ['multi', []],
  ])('a read-only member refuses %s with NotReadOnly', (op, request) => {
    const { bench } = cutOff()
    const client = readOnlyClient(bench)
    expect(answer(bench, client, op, request as undefined)).toMatchObject({ err: ErrorCode.NotReadOnly })
    expect(client.closed).toBeUndefined()
  })

  test('a read-only member ends a session that says nothing, and one that is closed', () => {
    const { bench } = cutOff()
    const [silent, closing] = [readOnlyClient(bench), readOnlyClient(bench)]
    expect(answer(bench, closing, 'closeSession', undefined)).toMatchObject({ err: ErrorCode.Ok })
    expect(closing.closed).toBe('end')
    bench.pass(3 * 4_000)
    expect(silent.closed).toBe('end')
    const late = readOnlyClient(bench, { sessionId: silent.session, passwd: silent.connected!.passwd })
    expect(late.connected).toMatchObject({ timeOut: 0, readOnly: true })
  })

  test('a read-only member that finds a leader again closes its connections, and does not know their sessions', () => {
    const { bench } = cutOff()
    const client = readOnlyClient(bench)
    bench.model.network.heal()
    bench.pass(2 * TICK)
    expect(client.closed).toBe('end')
    expect(bench.model.member('zk1').role).toBe('follower')
    expect(word(bench, 'isro')).toBe('rw')
    const late = readOnlyClient(bench, { sessionId: client.session, passwd: client.connected!.passwd })
    expect(late.connected).toMatchObject({ timeOut: 0 })
  })

  test('a read-only member that is killed serves no client', () => {
    const { bench } = cutOff()
    const client = readOnlyClient(bench)
    bench.model.member('zk1').kill()
    expect(client.closed).toBe('end')
    expect(bench.model.member('zk1').role).toBe('down')
  })

  test('a member is never read-only without readOnlyMode, nor where it is the only one', () => {
    const { bench } = cutOff({ readOnlyMode: false })
    bench.pass(10 * TICK)
    expect(bench.model.member('zk1').role).toBe('looking')
    const alone = new Bench({ members: 1, readOnlyMode: true })
    alone.pass(10 * TICK)
    expect(alone.model.members[0]!.role).toBe('standalone')
  })
})
