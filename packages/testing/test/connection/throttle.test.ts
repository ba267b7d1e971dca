import { ErrorCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { Bench, node } from '../support/bench.ts'

/** In ms: how long the members take to apply what was committed. */
const LAG = 50

function slow(members: number, throttledOpWaitTime: number): Bench {
  const bench = new Bench({ members, requestThrottleMaxRequests: 2, throttledOpWaitTime })
  for (const member of bench.model.members) member.lag(LAG)
  return bench
}

/** A client at a member that no other client uses. */
function connect(bench: Bench) {
  const member = bench.model.members.find(({ role }) => role !== 'leader')!.name
  const client = bench.connect({ member })
  bench.pass(3 * LAG)
  return client
}

const notified = ({ replies }: ReturnType<typeof connect>) => replies.map(({ op, xid, err }) => [op, xid, err])

describe.each([1, 3])('requestThrottleMaxRequests, %i members', (members) => {
  test('no more requests than that are in progress, and the others wait for their turn', () => {
    const bench = slow(members, 0)
    const client = connect(bench)
    for (const path of ['/a', '/b', '/c', '/d', '/e']) client.ask('create', node(path))
    bench.pass(LAG)
    expect(client.replies).toHaveLength(2)
    bench.pass(10 * LAG)
    expect(notified(client).map(([op, , err]) => [op, err])).toEqual(Array.from({ length: 5 }, () => ['create', 0]))
  })

  test('a request that has waited for longer than throttledOpWaitTime is answered ThrottledOp, in its turn, and not executed', () => {
    const bench = slow(members, LAG + 20)
    const client = connect(bench)
    for (const path of ['/a', '/b', '/c', '/d', '/e']) client.ask('create', node(path))
    client.ask('getData', { path: '/a', watch: false })
    bench.pass(10 * LAG)
    const { Ok, ThrottledOp } = ErrorCode
    expect(notified(client)).toEqual([
      ['create', 1, Ok],
      ['create', 2, Ok],
      ['create', 3, Ok],
      ['create', 4, Ok],
      ['create', 5, ThrottledOp],
      ['getData', 6, ThrottledOp],
    ])
    expect(['/d', '/e'].map((path) => bench.model.nodes.get(path) !== undefined)).toEqual([true, false])
    // A refusal costs no zxid.
    const before = client.replies.at(-1)!.zxid
    client.ask('create', node('/e'))
    bench.pass(LAG)
    expect(client.replies.at(-1)).toMatchObject({ err: Ok, zxid: before + 1n })
  })

  test('pings and the end of a session wait too, and are executed however long they have waited', () => {
    const bench = slow(members, 1)
    const client = connect(bench)
    for (const path of ['/a', '/b', '/c']) client.ask('create', node(path, 1))
    client.ask('ping', undefined, -2)
    client.ask('closeSession', undefined)
    bench.pass(10 * LAG)
    expect(notified(client).map(([op, , err]) => [op, err])).toEqual([
      ['create', 0],
      ['create', 0],
      ['create', ErrorCode.ThrottledOp],
      ['ping', 0],
      ['closeSession', 0],
    ])
    expect(bench.model.nodes.ephemerals()).toEqual([])
  })

  test('requests that the members do not know give their places back', () => {
    const bench = new Bench({ members, requestThrottleMaxRequests: 2, release: '3.6' })
    for (let each = 0; each < 3; each++) {
      const stranger = connect(bench)
      stranger.ask('whoAmI', undefined)
      bench.pass(LAG)
      expect(stranger.replies.at(-1)).toMatchObject({ err: ErrorCode.Unimplemented })
    }
    const client = connect(bench)
    client.ask('create', node('/a'))
    bench.pass(10 * LAG)
    expect(notified(client).map(([op, , err]) => [op, err])).toEqual([['create', 0]])
  })

  test('waiting requests of a lost connection are dropped', () => {
    const bench = slow(members, 0)
    const client = connect(bench)
    for (const path of ['/a', '/b', '/c']) client.ask('create', node(path))
    client.hangUp()
    bench.pass(10 * LAG)
    expect(['/a', '/b', '/c'].map((path) => bench.model.nodes.get(path) !== undefined)).toEqual([true, true, false])
    const other = connect(bench)
    other.ask('create', node('/c'))
    bench.pass(2 * LAG)
    expect(other.replies.at(-1)).toMatchObject({ op: 'create', err: 0 })
  })
})
