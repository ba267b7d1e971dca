// The effect of a fault on a connection comes behind earlier replies, and ahead of later ones.
import { describe, expect, test } from 'vitest'
import { Bench, node } from '../support/bench.ts'

const request = (op: 'create' | 'exists', path: string, xid: number) =>
  op === 'create'
    ? ({ type: 'request', op, opCode: 1, xid, request: node(path) } as const)
    : ({ type: 'request', op, opCode: 3, xid, request: { path, watch: false } } as const)

describe.each(['end', 'reset', 'halfOpen'] as const)('%s', (connection) => {
  const closed = connection === 'halfOpen' ? undefined : connection

  test('requests behind a lost request are lost with it', () => {
    const bench = new Bench()
    const client = bench.connect()
    const rule = bench.model.faults.loseRequest({ op: 'create', path: '/a', connection })
    client.say(request('create', '/a', 1), request('create', '/b', 2))
    bench.pass(10)
    client.say(request('create', '/c', 3))
    bench.pass(10)
    expect(rule.count).toBe(1)
    expect(bench.model.nodes.get('/')!.children).toEqual(['zookeeper'])
    expect([client.closed, client.replies]).toEqual([closed, []])
  })

  test('a dropped connection behind a delayed reply: both replies come first', () => {
    const bench = new Bench()
    const client = bench.connect()
    bench.model.faults.delayReply({ op: 'exists', ms: 100 })
    bench.model.faults.drop({ op: 'exists', nth: 2, connection })
    client.say(request('exists', '/a', 1), request('exists', '/a', 2), request('create', '/b', 3))
    bench.pass(99)
    expect([client.closed, client.replies]).toEqual([undefined, []])
    bench.pass(1)
    expect(client.replies.map(({ xid }) => xid)).toEqual([1, 2])
    expect(client.closed).toBe(closed)
    client.say(request('exists', '/a', 4))
    bench.pass(10)
    expect(client.replies).toHaveLength(2)
  })

  test('a lost reply behind a delayed one: that comes first', () => {
    const bench = new Bench()
    const client = bench.connect()
    bench.model.faults.delayReply({ op: 'exists', ms: 100 })
    bench.model.faults.loseReply({ op: 'create', connection })
    client.say(request('exists', '/a', 1), request('create', '/b', 2))
    bench.pass(200)
    expect(client.replies.map(({ xid }) => xid)).toEqual([1])
    expect(client.closed).toBe(closed)
    expect(bench.model.nodes.get('/b')).toBeDefined()
  })
})

test('a merged reply comes in one piece with a delayed one behind it', () => {
  const bench = new Bench()
  const client = bench.connect()
  bench.model.faults.merge({ op: 'exists', ms: 500 })
  bench.model.faults.delayReply({ op: 'exists', nth: 2, ms: 100 })
  const before = client.chunks.length
  client.say(request('exists', '/', 1))
  bench.pass(50)
  client.say(request('exists', '/', 2))
  bench.pass(99)
  expect(client.chunks).toHaveLength(before)
  bench.pass(1)
  expect([client.chunks.length - before, client.replies.length]).toEqual([1, 2])
})
