import { ErrorCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { Bench, node } from '../support/bench.ts'

const exists = (path: string) => ({ path, watch: false })

describe('a connection', () => {
  test('ends, or is reset', () => {
    const bench = new Bench()
    const [one, other] = [bench.connect(), bench.connect()]
    const [first, second] = bench.model.members[0]!.connections
    expect([first!.session, second!.session]).toEqual([one.session, other.session])
    first!.end()
    second!.reset()
    expect([one.closed, other.closed]).toEqual(['end', 'reset'])
    expect(bench.model.members[0]!.connections).toEqual([])
  })

  test('freezes: nothing is executed or sent until it thaws, and then all of it', () => {
    const bench = new Bench()
    const client = bench.connect()
    const other = bench.connect()
    client.ask('exists', { path: '/a', watch: true })
    const [connection] = bench.model.members[0]!.connections
    connection!.freeze()
    expect(client.link.gate.isOpen).toBe(false)
    client.ask('create', node('/b'))
    other.ask('create', node('/a'))
    expect(bench.model.nodes.get('/b')).toBeUndefined()
    expect(client.messages).toHaveLength(2)
    connection!.thaw()
    expect(client.messages.slice(2).map(({ type }) => type)).toEqual(['event', 'reply'])
  })

  test('is half-open one way', () => {
    const bench = new Bench()
    const [deaf, mute] = [bench.connect(), bench.connect()]
    bench.model.members[0]!.connections[0]!.halfOpen('requests')
    bench.model.members[0]!.connections[1]!.halfOpen('replies')
    deaf.ask('create', node('/deaf'))
    mute.ask('create', node('/mute'))
    expect(bench.model.nodes.get('/')!.children).toEqual(['mute', 'zookeeper'])
    expect(mute.replies).toEqual([])
    expect(() => bench.model.members[0]!.connections[0]!.halfOpen('all' as 'both')).toThrow(TypeError)
  })
})

describe('a member', () => {
  test('that is killed breaks its connections and refuses others, until it is started again', () => {
    const bench = new Bench()
    const client = bench.connect()
    client.ask('create', node('/kept'))
    const [member] = bench.model.members
    member!.kill()
    expect(member!.role).toBe('down')
    expect(client.closed).toBe('end')
    expect(bench.dial()).toBeUndefined()
    expect(bench.model.isListening('zk1')).toBe(false)
    member!.kill()
    member!.restart()
    member!.restart()
    const again = bench.dial()!
    again.handshake({ sessionId: client.session, passwd: client.connected!.passwd })
    expect(again.connected).toMatchObject({ timeOut: 4_000, sessionId: client.session })
    expect(member!.node('/kept')).toMatchObject({ children: [] })
  })

  test('that is frozen accepts connections and sends nothing, until it thaws', () => {
    const bench = new Bench()
    const client = bench.connect()
    const [member] = bench.model.members
    member!.freeze()
    client.ask('create', node('/a'))
    const late = bench.dial()!
    late.handshake()
    bench.pass(100)
    expect(client.replies).toEqual([])
    expect(late.messages).toEqual([])
    expect(client.link.gate.isOpen).toBe(false)
    member!.thaw()
    bench.pass(0)
    expect(client.replies).toMatchObject([{ err: 0 }])
    expect(late.connected!.timeOut).toBe(4_000)
  })

  test('refuses connections between refuse and accept, and serves existing ones', () => {
    const bench = new Bench()
    const client = bench.connect()
    bench.model.members[0]!.refuse()
    expect(bench.dial()).toBeUndefined()
    client.ask('exists', exists('/'))
    expect(client.replies).toHaveLength(1)
    bench.model.members[0]!.accept()
    expect(bench.dial()).toBeDefined()
  })

  test('lags behind the others, and catches up', () => {
    const bench = new Bench({ members: 3 })
    const follower = bench.model.members.find(({ role }) => role === 'follower')!
    follower.lag(Infinity)
    const client = bench.connect({ member: bench.model.leader!.name })
    client.ask('create', node('/a'))
    bench.pass(10)
    expect(follower.node('/a')).toBeUndefined()
    follower.catchUp()
    expect(follower.node('/a')!.stat.numChildren).toBe(0)
    expect(() => follower.lag(-1)).toThrow(RangeError)
    expect(() => follower.lag(Number.NaN)).toThrow(RangeError)
  })

  test('that does not serve closes a connection at the first frame', () => {
    const bench = new Bench({ members: 3 })
    const leader = bench.model.leader!
    for (const member of bench.model.members) if (member.name !== leader.name) member.kill()
    bench.pass(20_000)
    expect(leader.role).toBe('looking')
    const client = bench.dial(leader.name)!
    expect(client.closed).toBeUndefined()
    client.handshake()
    expect(client.closed).toBe('end')
    expect(client.messages).toEqual([])
  })

  test('is found by its name', () => {
    const { model } = new Bench({ members: ['a', 'b', 'c'] })
    expect(model.member('b').name).toBe('b')
    expect(() => model.member('zk1')).toThrow(new RangeError('there is no member "zk1"; there are a, b, c'))
  })
})

test('an ensemble serves when a quorum has its leader, whichever other member is cut off, frozen or down', () => {
  const bench = new Bench({ members: 3 })
  const { model } = bench
  const [one, other] = model.members.filter(({ role }) => role === 'follower')
  expect(model.isServing).toBe(true)
  one!.freeze()
  expect(model.isServing).toBe(true)
  model.network.isolate(other!)
  expect(model.isServing).toBe(false)
  model.network.heal()
  one!.thaw()
  model.leader!.freeze()
  expect(model.isServing).toBe(false)
  bench.pass(20_000)
  expect(model.isServing).toBe(true)
})

describe('sessions', () => {
  test('expire when they are ordered to: their nodes go and their connection is closed', () => {
    const bench = new Bench()
    const client = bench.connect()
    client.ask('create', node('/mine', 1))
    bench.model.sessions.expire(client.session)
    expect(client.closed).toBe('end')
    expect(bench.model.nodes.get('/mine')).toBeUndefined()
    expect(() => bench.model.sessions.expire(client.session)).toThrow(/there is no session 0x\w+; there are none/)
    expect(() => bench.model.sessions.expire(7 as unknown as bigint)).toThrow(TypeError)
  })

  test('move: the next write at the old place ends the connection', () => {
    const bench = new Bench({ members: 3 })
    const client = bench.connect({ member: 'zk1' })
    bench.model.sessions.move(client.session, bench.model.member('zk2'))
    client.ask('create', node('/a'))
    bench.pass(0)
    expect(client.closed).toBe('end')
    expect(bench.model.nodes.get('/a')).toBeUndefined()
    expect(bench.model.sessions.get(client.session)).toMatchObject({ member: 'zk2' })
    expect(() => bench.model.sessions.move(client.session, 'zk7')).toThrow(/there is no member "zk7"/)
    const dead = bench.model.members.find(({ role }) => role === 'follower')!
    dead.kill()
    bench.pass(10)
    expect(() => bench.model.sessions.move(client.session, dead)).toThrow(/zk\d does not follow the leader/)
  })
})

describe('the network', () => {
  test('cut between members: an isolated follower stops serving, and serves again when it heals', () => {
    const bench = new Bench({ members: 3 })
    const follower = bench.model.members.find(({ role }) => role === 'follower')!
    const client = bench.connect({ member: follower.name })
    bench.model.network.isolate(follower)
    expect(bench.model.network.isCut(follower, bench.model.leader!)).toBe(true)
    bench.pass(20_000)
    expect(client.closed).toBe('end')
    expect(follower.role).toBe('looking')
    bench.model.network.heal()
    bench.pass(5_000)
    expect(follower.role).toBe('follower')
  })

  test('a partition, and impossible ones', () => {
    const { network } = new Bench({ members: 3 }).model
    network.partition(['zk1'], ['zk2', 'zk3'])
    expect([network.isCut('zk1', 'zk2'), network.isCut('zk2', 'zk3')]).toEqual([true, false])
    network.heal('zk1', 'zk2')
    expect(network.isCut('zk1', 'zk2')).toBe(false)
    expect(() => network.partition(['zk1'], ['zk1', 'zk2'])).toThrow(/zk1 cannot be in two groups/)
    expect(() => network.partition(['zk9'])).toThrow(/there is no member "zk9"/)
    expect(() => network.cut('zk1', 'zk1')).toThrow(/between two members/)
    expect(() => network.heal('zk1')).toThrow(RangeError)
    expect(() => network.delay(-1)).toThrow(RangeError)
    expect(() => network.partition('zk1' as unknown as string[])).toThrow(
      /a group is a list such as \['zk1'\], not "zk1"/,
    )
    expect(() => network.isolate(null as unknown as string)).toThrow(/there is no member null/)
  })

  test('two links with similar names are two links', () => {
    const { network } = new Bench({ members: ['a', 'a b', 'b', 'b b'] }).model
    network.cut('a', 'b b')
    expect([network.isCut('a', 'b b'), network.isCut('a b', 'b')]).toEqual([true, false])
  })

  test('an error names a delay function that returns no time', () => {
    const bench = new Bench({ members: 3 })
    bench.model.network.delay(() => Number.NaN)
    expect(() => bench.pass(2_000)).toThrow('delay must return a number of ms, 0 or more, not NaN')
  })

  test('messages take as long as the delay', () => {
    const bench = new Bench({ members: 3 })
    const client = bench.connect({ member: bench.model.leader!.name })
    bench.model.network.delay(25)
    client.ask('create', node('/a'))
    bench.pass(49)
    expect(client.replies).toEqual([])
    bench.pass(1)
    expect(client.replies).toMatchObject([{ err: 0 }])
  })
})

describe('nodes', () => {
  test('are made with their parents, set and deleted with what is below', () => {
    const { nodes } = new Bench({ members: 3 }).model
    nodes.create('/a/b/c', { data: 'one' })
    nodes.setData('/a/b/c', Uint8Array.of(1, 2))
    expect(nodes.get('/a/b/c')).toMatchObject({ data: Uint8Array.of(1, 2), children: [], stat: { version: 1 } })
    nodes.delete('/a')
    expect(nodes.get('/a')).toBeUndefined()
    expect(() => nodes.delete('/a')).toThrow('delete /a: NoNode')
    expect(() => nodes.create('/a/')).toThrow(/path/)
    nodes.create('/a')
    expect(() => nodes.create('/a')).toThrow('create /a: NodeExists')
    expect(() => nodes.delete('/')).toThrow(/the root cannot be deleted/)
    expect(nodes.get('/')!.children).toEqual(['a', 'zookeeper'])
  })

  test('invalid arguments are refused before any node is created', () => {
    const { nodes } = new Bench().model
    const five = 5 as unknown as string
    expect(() => nodes.create('/a/b', { data: five })).toThrow(
      /nodes.create: data must be a Uint8Array or a string, not 5/,
    )
    expect(() => nodes.create('/a/b', { ephemeral: true } as object)).toThrow(/nodes.create: unknown option ephemeral/)
    expect(() => nodes.setData('/', five)).toThrow(/nodes.setData: data must be/)
    expect(() => nodes.ephemerals(5 as unknown as bigint)).toThrow(/a session's id is a bigint, not 5/)
    expect(nodes.get('/')!.children).toEqual(['zookeeper'])
  })

  test('their watchers are notified', () => {
    const bench = new Bench()
    const client = bench.connect()
    client.ask('exists', { path: '/a', watch: true })
    bench.model.nodes.create('/a')
    expect(client.events).toMatchObject([{ zxid: 2n, event: { type: 1, state: 3, path: '/a' } }])
  })

  test('a counter that was preset is the next number', () => {
    const bench = new Bench()
    const client = bench.connect()
    bench.model.nodes.create('/locks')
    bench.model.nodes.presetCounter('/locks', 2_147_483_646)
    client.ask('create', node('/locks/n-', 2))
    client.ask('create', node('/locks/n-', 2))
    client.ask('create', node('/locks/n-', 2))
    expect(bench.model.nodes.get('/locks')!.children).toEqual(['n-2147483646', 'n-2147483647'])
    expect(client.replies.at(-1)).toMatchObject({ err: ErrorCode.NodeExists })
    expect(() => bench.model.nodes.presetCounter('/locks', -1)).toThrow(RangeError)
    expect(() => bench.model.nodes.presetCounter('/none', 1)).toThrow('presetCounter /none: NoNode')
  })

  test('ephemeral ones are listed by session', () => {
    const bench = new Bench()
    const client = bench.connect()
    client.ask('create', node('/b', 1))
    client.ask('create', node('/a', 1))
    expect(bench.model.nodes.ephemerals()).toEqual(['/a', '/b'])
    expect(bench.model.nodes.ephemerals(client.session)).toEqual(['/a', '/b'])
    expect(bench.model.nodes.ephemerals(1n)).toEqual([])
  })

  test('wait at a leader with a minority, and are lost with it', () => {
    const bench = new Bench({ members: 3 })
    const { model } = bench
    const old = model.leader!
    model.network.isolate(old)
    expect([model.leader!.name, model.isServing]).toEqual([old.name, false])
    model.nodes.create('/lost')
    expect(old.node('/lost')).toBeUndefined()
    bench.pass(20_000)
    expect(model.leader!.name).not.toBe(old.name)
    expect([old.role, model.isServing]).toEqual(['looking', true])
    model.network.heal()
    bench.pass(5_000)
    expect(model.members.map((member) => member.node('/lost'))).toEqual([undefined, undefined, undefined])
  })

  test('cannot be read while no member leads', () => {
    const bench = new Bench({ members: 3 })
    for (const { name } of bench.model.members) bench.model.member(name).kill()
    expect(bench.model.leader).toBeUndefined()
    expect(() => bench.model.nodes.get('/')).toThrow(/no member leads/)
    expect(() => bench.model.nodes.setData('/', '')).toThrow(/no member leads/)
  })
})

test('a later change of bytes that a caller has passed changes no node', () => {
  const { nodes, members } = new Bench().model
  const data = new Uint8Array([1, 2])
  nodes.create('/a', { data })
  data[0] = 9
  nodes.get('/a')!.data[0] = 8
  members[0]!.node('/a')!.data[0] = 7
  expect(nodes.get('/a')?.data).toEqual(new Uint8Array([1, 2]))
  nodes.setData('/a', data)
  data[0] = 7
  expect(nodes.get('/a')?.data).toEqual(new Uint8Array([9, 2]))
})
