import { channel, subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  Create2Response,
  ErrorCode,
  ErrorResponse,
  ExistsResponse,
  GetChildren2Response,
  GetDataResponse,
  MultiResponse,
  type MultiResult,
  OpCode,
} from '@zk/wire'
import { describe, expect, onTestFinished, test } from 'vitest'
import { report, requests as traced } from '../../src/telemetry/channels.ts'
import { type ClientMessages, connect, deleteRecursive, op } from '../../src/index.ts'
import {
  connected,
  created,
  FakeServer,
  nodeData,
  outcome,
  reconnected,
  someStat,
  VirtualWorld,
} from '../support/index.ts'
import { recorded } from './recorded.ts'

const found = { stat: someStat }
const requestEvents = ['start', 'end', 'error', 'asyncStart', 'asyncEnd'].map((event) => `tracing:zk:request:${event}`)
const eventOf = (name: string) => name.replace('tracing:zk:request:', '')

describe('zk:request', () => {
  test('zk:request reports a call when it is made and when it has succeeded', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const messages = recorded(...requestEvents)
    void outcome(zk.exists('/a'))
    const place = { client: 'zk1:2181', op: 'exists', path: '/a', sessionId: zk.session.id, server: 'zk1:2181' }
    const open = { xid: undefined, duration: undefined, code: undefined, outcomeUnknown: undefined, error: undefined }
    expect(messages).toEqual(
      ['start', 'end'].map((event) => ({ name: `tracing:zk:request:${event}`, message: { ...place, ...open } })),
    )
    const request = await connection.expect(OpCode.exists)
    await world.advance(7)
    connection.reply(request, ExistsResponse, found)
    await world.settle()
    expect(messages.slice(2).map(({ name }) => eventOf(name))).toEqual(['asyncStart', 'asyncEnd'])
    expect(messages.at(-1)!.message).toEqual({
      ...place,
      xid: request.xid,
      duration: 7,
      code: 'Ok',
      outcomeUnknown: false,
      error: undefined,
    })
  })

  test('zk:request reports a failure with its code and its error', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const messages = recorded(...requestEvents)
    const create = outcome(zk.create('/a', 'secret data'))
    const aborting = new AbortController()
    void outcome(zk.exists('/b', { signal: aborting.signal }))
    await connection.expectAll(OpCode.create2, OpCode.exists)
    aborting.abort(new Error('enough'))
    connection.rst()
    await world.settle()
    expect(messages.map(({ name, message }) => [eventOf(name), message['op'], message['code']])).toEqual([
      ['start', 'create', undefined],
      ['end', 'create', undefined],
      ['start', 'exists', undefined],
      ['end', 'exists', undefined],
      ['error', 'exists', 'Aborted'],
      ['asyncStart', 'exists', 'Aborted'],
      ['asyncEnd', 'exists', 'Aborted'],
      ['error', 'create', 'ConnectionLoss'],
      ['asyncStart', 'create', 'ConnectionLoss'],
      ['asyncEnd', 'create', 'ConnectionLoss'],
    ])
    expect(messages.at(-1)!.message).toMatchObject({ outcomeUnknown: true, error: create.error })
  })

  test('zk:request of a multi and of a multiRead reports the paths of their operations, as they were called', async () => {
    const world = new VirtualWorld()
    const { zk } = await connected(world, { chroot: '/app' })
    const messages = recorded('tracing:zk:request:start')
    const reads = [op.getData('/a'), op.getChildren('/b')]
    void outcome(zk.multi([op.check('/c'), op.delete('/c'), op.create('/d')]))
    void outcome(zk.multiRead(reads))
    reads.length = 0
    void outcome(zk.exists('/e'))
    expect(messages.map(({ message }) => [message['op'], message['path'], message['paths']])).toEqual([
      ['multi', undefined, ['/c', '/c', '/d']],
      ['multiRead', undefined, ['/a', '/b']],
      ['exists', '/e', undefined],
    ])
  })

  test('zk:request publishes no error for a code that the library handles as an answer, and one for every other', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const messages = recorded('tracing:zk:request:error', 'tracing:zk:request:asyncEnd')
    const creating = outcome(zk.create('/a/b/c', '', { parents: true }))
    connection.fail(await connection.expect(OpCode.create2), 'NoNode')
    const [above, parent] = await connection.expectAll(OpCode.createContainer, OpCode.createContainer)
    connection.fail(above, 'NodeExists')
    connection.reply(parent, Create2Response, created('/a/b'))
    connection.fail(await connection.expect(OpCode.create2), 'NodeExists')
    await world.settle()
    expect(creating.error).toMatchObject({ code: 'NodeExists' })
    const all = messages.map(({ name, message: { path, code, error } }) => [
      eventOf(name),
      path,
      code,
      error !== undefined,
    ])
    expect(all).toEqual([
      ['asyncEnd', '/a/b/c', 'NoNode', false],
      ['asyncEnd', '/a', 'NodeExists', false],
      ['asyncEnd', '/a/b', 'Ok', false],
      ['error', '/a/b/c', 'NodeExists', true],
      ['asyncEnd', '/a/b/c', 'NodeExists', true],
    ])
    expect(zk.stats().requests.failed).toEqual({ NodeExists: 1 })
  })

  test('zk:request publishes no error for nodes that go while they are walked or deleted', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const failures = recorded('tracing:zk:request:error')
    const deleting = outcome(deleteRecursive(zk, '/a'))
    connection.fail(await connection.expect(OpCode.getChildren2), 'NoNode')
    await world.settle()
    expect([deleting.value, failures]).toEqual([0, []])
    const all = outcome(deleteRecursive(zk, '/b'))
    connection.reply(await connection.expect(OpCode.getChildren2), GetChildren2Response, {
      children: [],
      stat: someStat,
    })
    const gone: MultiResult = { type: OpCode.error, response: { err: ErrorCode.NoNode } }
    connection.reply(await connection.expect(OpCode.multi), MultiResponse, [gone])
    connection.fail(await connection.expect(OpCode.delete), 'NoNode')
    await world.settle()
    expect([all.value, failures]).toEqual([0, []])
  })

  test('zk:request is a TracingChannel, one object a call, and starts in the context of the caller', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const contexts = new AsyncLocalStorage<string>()
    const seen: [string, object, string | undefined][] = []
    const note = (event: string) => (message: unknown) =>
      void seen.push([event, message as object, contexts.getStore()])
    const subscribers = {
      start: note('start'),
      end: note('end'),
      asyncStart: note('asyncStart'),
      asyncEnd: note('asyncEnd'),
      error: note('error'),
    }
    const requests = tracingChannel<object>('zk:request')
    requests.subscribe(subscribers)
    onTestFinished(() => requests.unsubscribe(subscribers))
    contexts.run('the caller', () => outcome(zk.exists('/a')))
    connection.reply(await connection.expect(OpCode.exists), ExistsResponse, found)
    await world.settle()
    expect(seen.map(([event]) => event)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd'])
    expect(new Set(seen.map(([, message]) => message)).size).toBe(1)
    expect(seen[0]![2]).toBe('the caller')
  })
})

describe('zk:client', () => {
  test('zk:client reports a client when connect is called, with its state and its statistics', async () => {
    const seen: ClientMessages['zk:client'][] = []
    const note = (message: unknown) => void seen.push(message as ClientMessages['zk:client'])
    subscribe('zk:client', note)
    onTestFinished(() => void unsubscribe('zk:client', note))
    const world = new VirtualWorld()
    const connecting = outcome(connect('zk1:2181/app', { runtime: world, connectTimeout: 1_000 }))
    expect(seen.map(({ client, zk }) => [client, zk.state.name])).toEqual([['zk1:2181/app', 'connecting']])
    await world.advance(2_000)
    expect(connecting.status).toBe('rejected')
    expect(seen.map(({ zk }) => [zk.state.name, zk.stats().connections.established])).toEqual([['closed', 0]])
  })

  test.each([
    [undefined, 'zk1:2181'],
    ['billing', 'billing'],
  ])('the option name %s names the client %s in every message', async (name, client) => {
    const messages = recorded('zk:client', 'zk:connection', 'zk:session', 'tracing:zk:request:start')
    const world = new VirtualWorld()
    const { zk } = await connected(world, { advanced: { name } })
    void outcome(zk.withChroot('/app').exists('/a'))
    expect(new Set(messages.map((each) => each.name)).size).toBe(4)
    expect(new Set(messages.map(({ message }) => message['client']))).toEqual(new Set([client]))
    expect([zk.name, zk.withChroot('/app').name]).toEqual([client, client])
  })
})

describe('zk:connection and zk:session', () => {
  test('zk:connection reports how long each attempt took, without the pause and the attempts before it', async () => {
    const messages = recorded('zk:connection')
    const world = new VirtualWorld()
    void outcome(connect('zk1:2181', { runtime: world, sessionTimeout: 30_000, connectTimeout: 8_000 }))
    await world.advance(9_000)
    const failures = messages.filter(({ message }) => message['event'] === 'failed')
    expect(failures.length).toBeGreaterThan(3)
    // Each dial is refused at once.
    expect(failures.map(({ message }) => message['duration'])).toEqual(failures.map(() => 0))
  })

  test('zk:connection reports attempts, connections, and why they were lost', async () => {
    const messages = recorded('zk:connection', 'zk:session')
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const sessionId = zk.session.id
    await world.advance(100)
    server.refuse()
    connection.rst()
    await world.advance(1_000)
    server.listen()
    await world.advance(10_000)
    await server.accept()
    const events = messages.map(({ name, message }) => [name, message['event'], message['server']])
    expect(events.slice(0, 5)).toEqual([
      ['zk:connection', 'dialing', 'zk1:2181'],
      ['zk:connection', 'established', 'zk1:2181'],
      ['zk:session', 'established', 'zk1:2181'],
      ['zk:connection', 'lost', 'zk1:2181'],
      ['zk:connection', 'dialing', 'zk1:2181'],
    ])
    expect(events[5]).toEqual(['zk:connection', 'failed', 'zk1:2181'])
    expect(events.at(-1)).toEqual(['zk:connection', 'established', 'zk1:2181'])
    expect([messages[1], messages.at(-1)].map((each) => each!.message['isReconnected'])).toEqual([false, true])
    expect(messages[3]!.message).toMatchObject({ sessionId, duration: 100, reason: new Error('read ECONNRESET') })
    expect(messages[5]!.message).toMatchObject({ reason: new Error('connect ECONNREFUSED zk1:2181') })
  })

  test('zk:session reports how a session ended', async () => {
    const messages = recorded('zk:session')
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { renewSession: false })
    const { id: sessionId } = zk.session
    void outcome(zk.close())
    connection.reply(await connection.expect(OpCode.closeSession))
    await world.settle()
    expect(messages.at(-1)!.message).toEqual({
      client: 'zk1:2181',
      event: 'closed',
      sessionId,
      server: 'zk1:2181',
      timeout: 30_000,
    })
  })
})

describe('zk:watch', () => {
  test('zk:watch reports the event, and no data', async () => {
    const messages = recorded('zk:watch')
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { chroot: '/app' })
    void outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    connection.event('NodeDataChanged', '/app/a', { zxid: 9n })
    await world.settle()
    const place = { client: 'zk1:2181/app', sessionId: zk.session.id, server: 'zk1:2181' }
    expect(messages.map(({ message }) => message)).toEqual([
      { type: 'NodeDataChanged', path: '/app/a', zxid: 9n, ...place },
    ])
  })

  test('zk:watch reports a watch that is taken back, once', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const messages = recorded('zk:watch')
    const read = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    void read.value.unwatch()
    connection.reply(await connection.expect(OpCode.removeWatches))
    await world.settle()
    await read.value.unwatch()
    expect(messages.map(({ message: { type, path } }) => [type, path])).toEqual([['DataWatchRemoved', '/a']])
    expect(zk.stats().events).toBe(1)
  })

  test('zk:watch reports each watch that removeWatches removes', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const messages = recorded('zk:watch')
    outcome(zk.watch('/a'))
    connection.reply(await connection.expect(OpCode.addWatch), ErrorResponse, { err: 0 })
    outcome(zk.existsAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.exists), ExistsResponse, found)
    await world.settle()
    outcome(zk.removeWatches('/a'))
    await connection.expect(OpCode.removeWatches)
    expect(messages.map(({ message }) => message['type'])).toEqual(['DataWatchRemoved', 'PersistentWatchRemoved'])
  })
})

describe('zk:frame', () => {
  test('zk:frame reports headers and sizes if it is enabled, from the handshake on', async () => {
    const messages = recorded('zk:frame')
    const world = new VirtualWorld()
    const auth = [{ scheme: 'digest', auth: 'alice:secret' }]
    const { zk, server, connection } = await connected(world, { advanced: { traceFrames: true }, auth })
    void outcome(zk.exists('/a'))
    connection.fail(await connection.expect(OpCode.exists), 'NoNode')
    await world.settle()
    const headers = messages.map(({ message: { direction, xid, opCode, err } }) => [direction, xid, opCode, err])
    expect(headers).toEqual([
      ['sent', undefined, undefined, undefined],
      ['received', undefined, undefined, undefined],
      ['sent', -4, OpCode.auth, undefined],
      ['received', -4, undefined, 0],
      ['sent', 1, OpCode.exists, undefined],
      ['received', 1, undefined, -101],
    ])
    expect(messages[4]!.message).toMatchObject({ size: 8 + 4 + 2 + 1, server: 'zk1:2181', sessionId: zk.session.id })
    expect(JSON.stringify(messages, (_, value) => (typeof value === 'bigint' ? String(value) : value))).not.toMatch(
      /alice|secret|YWxp|passwd/,
    )
    await reconnected(world, { server, connection })
    expect(messages.slice(6, 8).map(({ message }) => message['xid'])).toEqual([undefined, undefined])
  })

  test('zk:frame is silent unless it was asked for', async () => {
    const messages = recorded('zk:frame')
    await connected(new VirtualWorld())
    expect(messages).toEqual([])
  })
})

describe('Channels', () => {
  test.each(['zk:anomaly', 'zk:client', 'zk:connection', 'zk:session', 'zk:watch', 'zk:frame'] as const)(
    '%s without a subscriber costs no message',
    (name) => {
      let made = 0
      const message = () => {
        made++
        return {} as never
      }
      report(name, message)
      expect([channel(name).hasSubscribers, made]).toEqual([false, 0])
      recorded(name)
      report(name, message)
      expect(made).toBe(1)
    },
  )

  test.each(requestEvents)('zk:request reports to a subscriber of %s alone', async (name) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const messages = recorded(name)
    void outcome(zk.getData('/a'))
    connection.fail(await connection.expect(OpCode.getData), 'NoNode')
    await world.settle()
    expect(messages.map((each) => [each.name, each.message['path']])).toEqual([[name, '/a']])
  })

  test('zk:request without a subscriber costs no message', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    expect(traced.hasSubscribers).toBe(false)
    void outcome(zk.exists('/before'))
    const messages = recorded(...requestEvents)
    expect(traced.hasSubscribers).toBe(true)
    connection.reply(await connection.expect(OpCode.exists), ExistsResponse, found)
    await world.settle()
    // It was called while no subscriber was there, so nothing is published.
    expect(messages).toEqual([])
  })

  test('Channels let a subscriber end the attempt that it is notified of: no connection is left behind', async () => {
    const world = new VirtualWorld()
    FakeServer.listen(world, 'zk1:2181')
    const abort = new AbortController()
    const end = () => abort.abort(new Error('enough'))
    subscribe('zk:connection', end)
    onTestFinished(() => void unsubscribe('zk:connection', end))
    const connecting = outcome(connect('zk1:2181', { runtime: world, signal: abort.signal }))
    await world.settle()
    expect(connecting.error).toMatchObject({ message: 'enough' })
    expect(world.dials).toEqual([])
    expect(world.timers).toBe(0)
  })

  test('Channels let a subscriber abort the call that it is notified of: nothing is sent', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const controller = new AbortController()
    const requests = tracingChannel('zk:request')
    const abort = () => controller.abort('enough')
    requests.start.subscribe(abort)
    onTestFinished(() => requests.start.unsubscribe(abort))
    const write = outcome(zk.create('/a', '', { signal: controller.signal }))
    await connection.expectNothing()
    expect(write.error).toBe('enough')
    expect(zk.stats().requests).toMatchObject({ aborted: 1, succeeded: 0 })
  })

  test('Channels do not let a subscriber that throws stop anything', async () => {
    const errors: unknown[] = []
    const faulty = () => {
      throw new Error('of the subscriber')
    }
    const uncaught = (error: unknown) => void errors.push(error)
    // Node tells it to the process, in a turn of its own; the runner has a listener of its own.
    const others = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', uncaught)
    const names = ['zk:connection', 'zk:session', ...requestEvents]
    for (const name of names) subscribe(name, faulty)
    try {
      const world = new VirtualWorld()
      const { zk, connection } = await connected(world)
      const call = outcome(zk.exists('/a'))
      connection.reply(await connection.expect(OpCode.exists), ExistsResponse, found)
      await world.settle()
      expect(call.status).toBe('fulfilled')
      await new Promise((resolve) => void setImmediate(resolve))
      expect(errors.length).toBeGreaterThanOrEqual(names.length - 1)
    } finally {
      for (const name of names) unsubscribe(name, faulty)
      process.removeListener('uncaughtException', uncaught)
      for (const each of others) process.on('uncaughtException', each)
    }
  })
})
