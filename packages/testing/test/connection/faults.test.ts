import { ErrorCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import type { EnsembleOptions } from '../../src/index.ts'
import { Bench, node, type RawClient } from '../support/bench.ts'

const exists = (path: string) => ({ path, watch: false })

function serving(options?: EnsembleOptions) {
  const bench = new Bench(options)
  const { faults, nodes } = bench.model
  return { bench, faults, nodes, client: bench.connect() }
}

const notified = (client: RawClient) => client.replies.map(({ xid, err }) => [xid, err])

describe('loseRequest', () => {
  test('loses the request before its execution, and closes the connection behind earlier replies', () => {
    const { client, faults, nodes } = serving()
    const rule = faults.loseRequest({ op: 'create', path: '/a' })
    client.say(
      { type: 'request', op: 'exists', opCode: 3, xid: 1, request: exists('/') },
      { type: 'request', op: 'create', opCode: 1, xid: 2, request: node('/a') },
      { type: 'request', op: 'exists', opCode: 3, xid: 3, request: exists('/') },
    )
    expect(notified(client)).toEqual([[1, 0]])
    expect(client.closed).toBe('end')
    expect(nodes.get('/a')).toBeUndefined()
    expect(rule.count).toBe(1)
  })

  test('of the handshake: no session is made', () => {
    const bench = new Bench()
    bench.model.faults.loseRequest({ op: 'connect' })
    const client = bench.dial()!
    client.handshake()
    expect(client.messages).toEqual([])
    expect(client.closed).toBe('end')
    expect(bench.model.sessions.list()).toEqual([])
  })

  test('with an open connection: it gets no reply', () => {
    const { client, faults } = serving()
    faults.loseRequest({ connection: 'open' })
    client.ask('exists', exists('/'))
    client.ask('exists', exists('/'))
    expect(notified(client)).toEqual([[2, 0]])
  })
})

describe('loseReply', () => {
  test('loses the reply to an executed request', () => {
    const { client, faults, nodes } = serving()
    const rule = faults.loseReply({ op: 'create' })
    client.ask('create', node('/a'))
    expect(client.replies).toEqual([])
    expect(client.closed).toBe('end')
    expect(nodes.get('/a')).toBeDefined()
    expect(rule.count).toBe(1)
  })

  test('of the handshake: the session is made, and its client does not know it', () => {
    const bench = new Bench()
    bench.model.faults.loseReply({ op: 'connect', connection: 'reset' })
    const client = bench.dial()!
    client.handshake()
    expect(client.messages).toEqual([])
    expect(client.closed).toBe('reset')
    expect(bench.model.sessions.list()).toHaveLength(1)
  })

  test('of an event: the watch is gone, without any event', () => {
    const { client, faults } = serving()
    const rule = faults.loseReply({ op: 'event', path: '/a', connection: 'open' })
    client.ask('exists', { path: '/a', watch: true })
    client.ask('create', node('/a'))
    expect(client.events).toEqual([])
    expect(notified(client)).toEqual([
      [1, ErrorCode.NoNode],
      [2, 0],
    ])
    expect(rule.count).toBe(1)
  })

  test('loses the reply to the next matching request if the server never answers the first', () => {
    // A check outside of a multi: from 3.8.5 on it is refused.
    const { bench, client, faults, nodes } = serving({ release: '3.8.4' })
    nodes.create('/a')
    const rule = faults.loseReply({ op: ['check', 'exists'] })
    client.ask('check', { path: '/a', version: -1 })
    client.ask('getData', exists('/'))
    expect(notified(client)).toEqual([[2, 0]])
    expect(rule.count).toBe(0)
    client.ask('exists', exists('/a'))
    bench.pass(0)
    expect(client.closed).toBe('end')
    expect(rule.count).toBe(1)
  })

  test('half-open: neither end receives anything more, and no error is reported', () => {
    const { bench, client, faults, nodes } = serving()
    faults.loseReply({ op: 'create', connection: 'halfOpen' })
    client.ask('create', node('/a'))
    client.ask('create', node('/b'))
    bench.pass(20_000)
    expect(client.replies).toEqual([])
    expect(client.closed).toBeUndefined()
    expect(nodes.get('/a')).toBeDefined()
    expect(nodes.get('/b')).toBeUndefined()
  })
})

test('drop answers first', () => {
  const { client, faults } = serving()
  faults.drop({ op: 'create', connection: 'reset' })
  client.ask('create', node('/a'))
  expect(notified(client)).toEqual([[1, 0]])
  expect(client.closed).toBe('reset')
})

test('delayRequest delays the execution of the request, and of the requests behind it', () => {
  const { bench, client, faults, nodes } = serving()
  faults.delayRequest({ op: 'create', ms: 100 })
  client.ask('create', node('/a'))
  client.ask('exists', exists('/a'))
  expect(client.link.gate.isOpen).toBe(false)
  bench.pass(99)
  expect(nodes.get('/a')).toBeUndefined()
  expect(client.replies).toEqual([])
  bench.pass(1)
  expect(notified(client)).toEqual([
    [1, 0],
    [2, 0],
  ])
  expect(client.link.gate.isOpen).toBe(true)
})

test('delayRequest holds up what is behind it for its own time only, and not until it is answered', () => {
  const bench = new Bench({ members: 3, latency: 50 })
  bench.pass(2_000)
  const client = bench.dial(bench.model.leader!.name)!
  client.handshake()
  bench.pass(1_000)
  bench.model.faults.delayRequest({ op: 'create', ms: 100 })
  client.ask('create', node('/a'))
  client.ask('create', node('/b'))
  // Then both are proposed, and a proposal and its acknowledgement take 50 ms each.
  bench.pass(199)
  expect(client.replies).toEqual([])
  bench.pass(1)
  expect(notified(client)).toEqual([
    [1, 0],
    [2, 0],
  ])
})

test('delayReply delays the reply and the replies behind it, but not the execution', () => {
  const { bench, client, faults, nodes } = serving()
  faults.delayReply({ op: 'create', ms: 100 })
  client.ask('create', node('/a'))
  client.ask('exists', exists('/a'))
  expect(nodes.get('/a')).toBeDefined()
  bench.pass(99)
  expect(client.replies).toEqual([])
  bench.pass(1)
  expect(notified(client)).toEqual([
    [1, 0],
    [2, 0],
  ])
})

describe('fail', () => {
  test('replies with the code, and does not execute the request', () => {
    const { client, faults, nodes } = serving()
    const rule = faults.fail({ op: 'create', code: 'NodeExists' })
    client.ask('create', node('/a'))
    expect(notified(client)).toEqual([[1, ErrorCode.NodeExists]])
    expect(nodes.get('/a')).toBeUndefined()
    expect(rule.count).toBe(1)
  })

  test('replies in order, behind waiting requests', () => {
    const bench = new Bench({ members: 3, latency: 10 })
    bench.pass(500)
    const client = bench.dial('zk1')!
    client.handshake()
    bench.pass(100)
    bench.model.faults.fail({ path: '/b', code: -9_999 })
    client.ask('create', node('/a'))
    client.ask('create', node('/b'))
    client.ask('create', node('/c'))
    expect(client.replies).toEqual([])
    bench.pass(100)
    expect(notified(client)).toEqual([
      [1, 0],
      [2, -9_999],
      [3, 0],
    ])
  })

  test('answers a handshake as if the session were over, though it is not', () => {
    const bench = new Bench()
    const first = bench.connect()
    bench.model.faults.fail({ op: 'connect', code: 'SessionExpired' })
    const again = bench.dial()!
    again.handshake({ sessionId: first.session, passwd: first.connected!.passwd })
    expect(again.connected).toMatchObject({ timeOut: 0, sessionId: 0n })
    expect(again.closed).toBe('end')
    expect(bench.model.sessions.get(first.session)).toBeDefined()
  })

  test('auth closes the connection, as a refusal does', () => {
    const { client, faults } = serving()
    const rule = faults.fail({ op: 'auth', code: 'AuthFailed' })
    client.ask('auth', { type: 0, scheme: 'ip', auth: null }, -4)
    expect(notified(client)).toEqual([[-4, ErrorCode.AuthFailed]])
    expect(client.closed).toBe('end')
    expect(rule.count).toBe(1)
  })
})

describe('replaceSession', () => {
  test('answers a resume with a new session, and leaves the old one', () => {
    const bench = new Bench()
    const first = bench.connect()
    const { passwd } = first.connected!
    const rule = bench.model.faults.replaceSession()
    // The handshake of a new session does not match.
    const other = bench.connect()
    const again = bench.dial()!
    again.handshake({ sessionId: first.session, passwd })
    expect([first.session, other.session, 0n]).not.toContain(again.session)
    expect(again.connected!.timeOut).toBe(4_000)
    again.ask('create', node('/mine', 1))
    expect(bench.model.nodes.get('/mine')!.stat.ephemeralOwner).toBe(again.session)
    expect([first.closed, rule.count]).toEqual([undefined, 1])
    expect(bench.model.sessions.list()).toHaveLength(3)
  })

  test('rejects an operation or a path: only handshakes are struck', () => {
    const { faults } = serving()
    expect(() => faults.replaceSession({ op: 'create' } as object)).toThrow('replaceSession: unknown option op')
  })
})

test('garbage comes in place of the reply', () => {
  const { client, faults } = serving()
  faults.garbage({ op: 'exists', bytes: Uint8Array.of(0, 0, 0, 0x10, 1, 2, 3) })
  client.ask('exists', exists('/'))
  expect(client.chunks.at(-1)).toEqual(Uint8Array.of(0, 0, 0, 0x10, 1, 2, 3))
  expect(client.replies).toEqual([])
})

test('split sends the reply in two pieces', () => {
  const { bench, client, faults } = serving()
  faults.split({ op: 'exists', at: 5, ms: 30 })
  client.ask('exists', exists('/'))
  client.ask('exists', exists('/'))
  expect(client.chunks.at(-1)!.length).toBe(5)
  bench.pass(29)
  expect(client.replies).toEqual([])
  bench.pass(1)
  expect(notified(client)).toEqual([
    [1, 0],
    [2, 0],
  ])
})

describe('merge', () => {
  test('sends the reply in one piece with the next', () => {
    const { client, faults } = serving()
    faults.merge({ op: 'exists' })
    const before = client.chunks.length
    client.ask('exists', exists('/'))
    expect(client.chunks.length).toBe(before)
    client.ask('exists', exists('/'))
    expect(client.chunks.length).toBe(before + 1)
    expect(client.replies).toHaveLength(2)
  })

  test('sends it alone when no other reply comes', () => {
    const { bench, client, faults } = serving()
    faults.merge({ op: 'exists', ms: 50 })
    client.ask('exists', exists('/'))
    bench.pass(50)
    expect(client.replies).toHaveLength(1)
  })
})

describe('which frames a rule matches', () => {
  const strikes = (match: object) => {
    const { client, faults } = serving()
    faults.fail({ ...match, code: 'APIError', times: Infinity })
    client.ask('create', node('/locks'))
    client.ask('create2', node('/locks/a'))
    client.ask('getChildren2', { path: '/locks', watch: false })
    client.ask('multi', [
      { type: 13, request: { path: '/locksmith', version: -1 } },
      { type: 2, request: { path: '/locks/b', version: -1 } },
    ])
    client.ask('ping', undefined, -2)
    return client.replies.filter(({ err }) => err === ErrorCode.APIError).map(({ op }) => op)
  }

  test.each<[string, object, string[]]>([
    ['no condition', {}, ['create', 'create2', 'getChildren2', 'multi']],
    ['create', { op: 'create' }, ['create', 'create2']],
    ['create2', { op: 'create2' }, ['create2']],
    ['getChildren and ping', { op: ['getChildren', 'ping'] }, ['getChildren2', 'ping']],
    ['a path', { path: '/locks' }, ['create', 'create2', 'getChildren2', 'multi']],
    ['a path further below', { path: '/locks/a' }, ['create2']],
    ['a path in a multi', { path: '/locks/b' }, ['multi']],
    ['the root', { path: '/' }, ['create', 'create2', 'getChildren2', 'multi']],
    ['a pattern', { path: /smith$/g }, ['multi']],
    ['another session', { session: 1n }, []],
    ['a member and an operation', { member: 'zk1', op: 'create2' }, ['create2']],
    ['the second', { nth: 2 }, ['create2', 'getChildren2', 'multi']],
  ])('%s', (_, match, struck) => {
    expect(strikes(match)).toEqual(struck)
  })

  test('nth counts from the creation of the rule, and times from the nth frame', () => {
    const { client, faults } = serving()
    client.ask('exists', exists('/'))
    const rule = faults.fail({ code: 'APIError', nth: 2, times: 2 })
    for (let at = 0; at < 5; at++) client.ask('exists', exists('/'))
    expect(client.replies.map(({ err }) => err !== 0)).toEqual([false, false, true, true, false, false])
    expect(rule.count).toBe(2)
    expect(faults.rules).toEqual([])
  })

  test('the older of two rules for one frame strikes, and the other counts the frame', () => {
    const { client, faults } = serving()
    const second = faults.fail({ code: 'NoNode', nth: 2 })
    const first = faults.fail({ code: 'NoAuth' })
    for (let at = 0; at < 3; at++) client.ask('exists', exists('/'))
    expect(client.replies.map(({ err }) => err)).toEqual([ErrorCode.NoAuth, ErrorCode.NoNode, 0])
    expect([first.count, second.count]).toEqual([1, 1])
  })

  test('a removed rule strikes no more', () => {
    const { client, faults } = serving()
    const rule = faults.fail({ code: 'NoNode' })
    faults.fail({ code: 'NoNode' })
    rule.remove()
    faults.clear()
    client.ask('exists', exists('/'))
    expect(client.replies).toMatchObject([{ err: 0 }])
  })

  test('a rule whose request is dropped before the rule can strike strikes the next', async () => {
    const bench = new Bench({ members: 3 })
    const { model } = bench
    const leader = model.leader!
    const cutOff = bench.connect({ member: leader.name, timeOut: 40_000 })
    const rule = model.faults.loseReply({ op: 'create', path: '/a' })
    model.network.isolate(leader)
    cutOff.ask('create', node('/a'))
    expect([rule.count, model.faults.rules]).toEqual([0, [rule]])
    bench.pass(20_000)
    expect(cutOff.closed).toBe('end')
    expect([rule.count, model.faults.rules]).toEqual([0, [rule]])
    const client = bench.connect({ member: model.leader!.name })
    client.ask('create', node('/a'))
    await rule.fired
    expect(client.replies).toEqual([])
    expect([rule.count, model.faults.rules]).toEqual([1, []])
  })

  // Any seized frame may be dropped, before others are struck or after them.
  test.each(['loseReply', 'fail', 'drop', 'garbage', 'merge'] as const)(
    'a rule of %s strikes as often as it should, whichever of three clients leave, and whenever, after it has matched their requests',
    (type) => {
      const released = new Set<string>()
      for (let leaving = 0; leaving < 8; leaving++) {
        for (let leavesAt = 0; leavesAt < 40; leavesAt += 4) {
          const bench = new Bench({ members: 3, latency: 10 })
          bench.pass(500)
          const { faults, members, leader } = bench.model
          const follower = members.find((member) => member !== leader)!.name
          const connect = () => {
            const client = bench.dial(follower)!
            client.handshake()
            bench.pass(100)
            return client
          }
          const clients = [connect(), connect(), connect()]
          const match = { op: 'create', path: '/struck', times: 3 } as const
          const rule =
            type === 'fail'
              ? faults.fail({ ...match, code: 'APIError' })
              : // Garbage of no bytes, so that no decoder has to handle it.
                faults[type]({ ...match, ...(type === 'garbage' && { bytes: new Uint8Array() }) })
          for (const [index, client] of clients.entries()) {
            // A request behind a write waits for it, even if it fails.
            client.ask('create', node(`/before-${index}`))
            client.ask('create', node('/struck'))
            bench.pass(8)
          }
          bench.pass(leavesAt)
          const struckBefore = rule.count
          for (const [index, client] of clients.entries()) if ((leaving >> index) & 1) client.hangUp()
          bench.pass(1_000)
          const { count } = rule
          if (count < 3) released.add(`${count} of them behind ${struckBefore}`)
          const where = `${leaving.toString(2)} leave after ${leavesAt} ms`
          expect(faults.rules, where).toEqual(count < 3 ? [rule] : [])
          for (let struck = count; struck < 3; struck++) {
            connect().ask('create', node('/struck'))
            bench.pass(1_000)
          }
          connect().ask('create', node('/struck'))
          bench.pass(1_000)
          expect([rule.count, faults.rules], where).toEqual([3, []])
        }
      }
      // Some were dropped before any was struck, some afterwards.
      expect([...released].sort()).toEqual(expect.arrayContaining(['0 of them behind 0', '2 of them behind 2']))
    },
  )

  test('a rule strikes no more than it should when several of its requests wait', () => {
    const bench = new Bench({ members: 3, latency: 10 })
    bench.pass(500)
    const client = bench.dial('zk1')!
    client.handshake()
    bench.pass(100)
    const rule = bench.model.faults.loseReply({ op: 'create', connection: 'open', times: 2 })
    for (const path of ['/a', '/b', '/c']) client.ask('create', node(path))
    bench.pass(100)
    expect(notified(client)).toEqual([[3, 0]])
    expect([rule.count, bench.model.faults.rules]).toEqual([2, []])
  })

  test('a handshake that is closed without an answer leaves its rule to the next', () => {
    const bench = new Bench()
    const rule = bench.model.faults.loseReply({ op: 'connect' })
    bench.dial()!.handshake({ lastZxidSeen: 1_000n })
    expect(rule.count).toBe(0)
    bench.dial()!.handshake()
    expect(rule.count).toBe(1)
  })

  test('fail also answers requests that the server does not know', () => {
    const { client, faults } = serving()
    const rule = faults.fail({ code: 'APIError' })
    client.say({ type: 'request', op: undefined, opCode: 999, xid: 1, request: undefined })
    expect(notified(client)).toEqual([[1, ErrorCode.APIError]])
    expect([rule.count, client.closed]).toEqual([1, undefined])
  })

  test('the count of a rule is read-only', () => {
    const rule = serving().faults.loseReply()
    expect(() => Object.assign(rule, { count: 1 })).toThrow(TypeError)
  })

  test('a rule reports once that it has fired', async () => {
    const { client, faults } = serving()
    const rule = faults.loseReply({ op: 'create' })
    let fired = 0
    void rule.fired.then(() => fired++)
    await Promise.resolve()
    expect(fired).toBe(0)
    client.ask('create', node('/a'))
    await rule.fired
    expect(fired).toBe(1)
  })
})

test.each<[string, (faults: Bench['model']['faults']) => unknown, typeof TypeError | typeof RangeError, RegExp]>([
  [
    'an unknown op',
    (f) => f.loseReply({ op: 'mkdir' as 'create' }),
    TypeError,
    /unknown op "mkdir"; known are connect, event, create/,
  ],
  ['nothing given', (f) => f.delayReply(undefined as never), TypeError, /delayReply: the options must be an object/],
  ['null given', (f) => f.loseReply(null as never), TypeError, /loseReply: the options must be an object/],
  ['a failure without a code', (f) => f.fail(undefined as never), TypeError, /fail: the options must be an object/],
  ['no op at all', (f) => f.loseReply({ op: [] }), TypeError, /op must be/],
  ['a relative path', (f) => f.loseReply({ path: 'a' }), TypeError, /path must be .* not "a"/],
  ['a path with a slash too many', (f) => f.loseReply({ path: '/a/' }), TypeError, /path "\/a\/" must not end with/],
  ['an unknown member', (f) => f.loseReply({ member: 'zk9' }), RangeError, /there is no member "zk9"; there are zk1/],
  [
    'a session that is no bigint',
    (f) => f.loseReply({ session: 1 as unknown as bigint }),
    TypeError,
    /session must be/,
  ],
  [
    'an option that there is not',
    (f) => f.loseReply({ paths: '/a' } as object),
    TypeError,
    /unknown option paths; known are op, path/,
  ],
  ['a count from 0', (f) => f.loseReply({ nth: 0 }), RangeError, /nth must be an integer from 1/],
  ['no times', (f) => f.loseReply({ times: 0 }), RangeError, /times must be/],
  [
    'an unknown ending',
    (f) => f.loseReply({ connection: 'closed' as 'end' }),
    TypeError,
    /connection must be one of end, reset/,
  ],
  ['a drop that drops nothing', (f) => f.drop({ connection: 'open' as 'end' }), TypeError, /connection must be/],
  ['no time', (f) => f.delayReply({} as { ms: number }), RangeError, /ms must be a number above 0, not undefined/],
  ['a lost request for an event', (f) => f.loseRequest({ op: 'event' }), TypeError, /an event has no request/],
  ['a failing event', (f) => f.fail({ op: ['create', 'event'], code: 'NoNode' }), TypeError, /an event has no request/],
  [
    'a handshake that fails in its own way',
    (f) => f.fail({ op: 'connect', code: 'NoNode' }),
    TypeError,
    /SessionExpired/,
  ],
  ['an unknown code', (f) => f.fail({ code: 'Oops' as 'NoNode' }), TypeError, /code must be the name of an error/],
  ['success as a failure', (f) => f.fail({ code: 'Ok' }), TypeError, /code must be/],
  ['a piece of nothing', (f) => f.split({ at: 0 }), RangeError, /at must be/],
  ['garbage that is no bytes', (f) => f.garbage({ bytes: 'x' as unknown as Uint8Array }), TypeError, /bytes must be/],
])('%s is refused with an error that says so', (_, make, kind, message) => {
  const { faults } = serving()
  expect(() => make(faults)).toThrow(kind)
  expect(() => make(faults)).toThrow(message)
  expect(faults.rules).toEqual([])
})
