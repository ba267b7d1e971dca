// A notified callback may make further calls at once: channels and loggers are synchronous.
import { channel } from 'node:diagnostics_channel'
import { VirtualWorld as TestWorld } from '@zk/testing'
import { GetDataResponse, OpCode } from '@zk/wire'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect, type Logger, type LookupHandler, type Watched, type ZooKeeper } from '../../src/index.ts'
import { connected, expired, FakeServer, NamedWorld, nodeData, outcome, VirtualWorld } from '../support/index.ts'

const T = 30_000

interface Message {
  readonly event?: string
  readonly server?: string
  readonly op?: string
}

function onChannel(name: string, notified: (message: Message) => void): void {
  const listener = (message: unknown) => notified(message as Message)
  channel(name).subscribe(listener)
  onTestFinished(() => {
    channel(name).unsubscribe(listener)
  })
}

/** What would have ended the process. */
function uncaught(): unknown[] {
  const errors: unknown[] = []
  const before = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException').on('uncaughtException', (error) => errors.push(error))
  onTestFinished(() => {
    process.removeAllListeners('uncaughtException')
    for (const each of before) process.on('uncaughtException', each)
  })
  return errors
}

/** Calls only the first time. */
function once(act: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    act()
  }
}

describe('ZooKeeper.updateServers by a notified callback', () => {
  test('that a connection stands: states come in the order in which they were', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    FakeServer.listen(world, 'zk2:2181')
    const names: string[] = []
    const following = (async () => {
      for await (const { name } of zk.watchState()) names.push(name)
    })()
    const change = once(() => zk.updateServers('zk2:2181'))
    onChannel('zk:connection', ({ event }) => {
      if (event === 'established') change()
    })
    connection.rst()
    await world.advance(1_000)
    await server.accept()
    await world.settle()
    expect([zk.session.connection, names]).toEqual([
      undefined,
      ['connected', 'disconnected', 'connected', 'disconnected'],
    ])
    void zk.close()
    await world.advance(T)
    await following
  })

  test('that a call has failed, as an attempt begins: the failure is reported first', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    connection.rst()
    await world.settle()
    server.swallow()
    FakeServer.listen(world, 'zk2:2181').swallow()
    const events: string[] = []
    const change = once(() => zk.updateServers('zk2:2181'))
    onChannel('zk:connection', ({ event, server: at }) => events.push(`${event} ${at}`))
    onChannel('tracing:zk:request:error', change)
    // Its time and the pause end in one moment.
    const call = outcome(zk.getData('/a', { timeout: 100 }))
    world.stall(1_500)
    await world.settle()
    expect(call.status).toBe('rejected')
    expect(events.slice(0, 2)).toEqual(['dialing zk1:2181', 'failed zk1:2181'])
  })

  test('that a call has failed, as a look-up begins: its answer is ignored', async () => {
    const lookups: LookupHandler[] = []
    class Slow extends NamedWorld {
      override resolve(host: string, handler: LookupHandler): void {
        if (host === 'zk1' && this.now() > 0) lookups.push(handler)
        else super.resolve(host, handler)
      }
    }
    const world = new Slow()
    world.names.set('zk1', ['10.0.0.1']).set('zk2', ['10.0.0.2'])
    const one = FakeServer.listen(world, '10.0.0.1:2181')
    const two = FakeServer.listen(world, '10.0.0.2:2181')
    const connecting = outcome(connect('zk1:2181', { runtime: world }))
    const connection = await one.accept()
    const zk = connecting.value
    connection.rst()
    await world.settle()
    onChannel(
      'tracing:zk:request:error',
      once(() => zk.updateServers('zk2:2181')),
    )
    outcome(zk.getData('/a', { timeout: 100 }))
    world.stall(1_500)
    await world.advance(1_000)
    await two.accept()
    expect(zk.session.connection?.server).toBe('zk2:2181')
    expect(lookups.length).toBe(1)
    for (const lookup of lookups) lookup.failed(new Error('getaddrinfo EAI_AGAIN zk1'))
    await world.settle()
    expect(zk.session.connection?.server).toBe('zk2:2181')
  })
})

describe('A subscriber of frames', () => {
  test('may give up connecting', async () => {
    const errors = uncaught()
    const world = new VirtualWorld()
    FakeServer.listen(world, 'zk1:2181')
    const giveUp = new AbortController()
    onChannel('zk:frame', () => giveUp.abort(new Error('enough')))
    const connecting = outcome(
      connect('zk1:2181', { runtime: world, advanced: { traceFrames: true }, signal: giveUp.signal }),
    )
    await world.settle()
    expect([connecting.error, errors]).toEqual([giveUp.signal.reason, []])
  })

  test('may ask for other servers', async () => {
    const errors = uncaught()
    const world = new VirtualWorld()
    const { zk } = await connected(world, { advanced: { traceFrames: true } })
    const two = FakeServer.listen(world, 'zk2:2181')
    const change = once(() => zk.updateServers('zk2:2181'))
    onChannel('zk:frame', () => change())
    await world.advance(T / 2)
    await two.accept()
    expect([zk.session.connection?.server, errors]).toEqual(['zk2:2181', []])
  })
})

describe('ZooKeeper.detach', () => {
  test('by a callback of the expiry says that the session has expired', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const none = new Promise<unknown>(() => {})
    let detaching = outcome(none)
    onChannel('zk:session', ({ event }) => {
      if (event === 'expired') detaching = outcome(zk.detach())
    })
    await expired(world, { server, connection })
    expect(detaching.error).toMatchObject({ code: 'SessionExpired' })
  })
})

describe('ZooKeeper.close', () => {
  test.each(['channel', 'logger'] as const)('by a callback of the expiry (%s) ends what follows, too', async (how) => {
    const world = new VirtualWorld()
    const none = () => {}
    let close = none
    const logger: Logger = (level) => void (level === 'error' && how === 'logger' && close())
    const { zk, server, connection } = await connected(world, { logger })
    let closing = outcome(new Promise<void>(none))
    close = once(() => (closing = outcome(zk.close())))
    onChannel('zk:session', ({ event }) => {
      if (how === 'channel' && event === 'expired') close()
    })
    await expired(world, { server, connection })
    expect(closing.status).toBe('fulfilled')
    const dials = world.dials.length
    await world.advance(60_000)
    expect({ timers: world.timers, dials: world.dials.length }).toEqual({ timers: 0, dials })
  })

  test('tells of a connection that is lost before its end', async () => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    const names: string[] = []
    void (async () => {
      for await (const { name } of zk.watchState()) names.push(name)
    })()
    server.swallow()
    outcome(zk.close())
    await world.settle()
    connection.rst()
    await world.advance(T)
    expect(names).toEqual(['connected', 'disconnected', 'closed'])
  })
})

describe('A subscriber that is notified of a removal of watches, and sets one', () => {
  const removals: Readonly<Record<string, (zk: ZooKeeper, read: Watched) => Promise<unknown>>> = {
    'Watched.unwatch': (_, read) => read.unwatch(),
    "removeWatches('Data')": (zk) => zk.removeWatches('/a', 'Data'),
    "removeWatches('Any')": (zk) => zk.removeWatches('/a', 'Any'),
  }
  const channels = ['zk:watch', 'tracing:zk:request:start']

  test.each(Object.keys(removals).flatMap((name) => channels.map((subscribed) => [name, subscribed] as const)))(
    '%s takes no watch off that was set when %s told of it',
    async (name, subscribed) => {
      const world = new TestWorld({ members: 1 })
      await world.run(async () => {
        const zk = await connect(world.connectString, { runtime: world.runtime })
        await zk.create('/a', 'old')
        const read = await zk.getDataAndWatch('/a')
        let again: Promise<Watched> | undefined
        onChannel(subscribed, ({ op }) => {
          if (subscribed === 'zk:watch' || op === 'removeWatches') again ??= zk.getDataAndWatch('/a')
        })
        await removals[name]!(zk, read)
        const { changed } = await again!
        await zk.setData('/a', 'new')
        expect(await changed).toMatchObject({ type: 'NodeDataChanged' })
        await zk.close()
      })
    },
  )

  test('removeWatches takes no watch off that ZooKeeper.watch set when the request was told', async () => {
    const world = new TestWorld({ members: 1, release: '3.9' })
    await world.run(async () => {
      const zk = await connect(world.connectString, { runtime: world.runtime })
      await zk.create('/a', 'old')
      await zk.watch('/a')
      let again: ReturnType<ZooKeeper['watch']> | undefined
      onChannel('tracing:zk:request:start', ({ op }) => {
        if (op === 'removeWatches') again ??= zk.watch('/a')
      })
      await zk.removeWatches('/a')
      const events = await again!
      await zk.setData('/a', 'new')
      expect((await events.next()).value).toMatchObject({ type: 'NodeDataChanged', path: '/a' })
      await zk.close()
    })
  })

  test('removeWatches whose signal is aborted by it takes the watch off the server, too', async () => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const read = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData(''))
    await world.settle()
    expect(read.status).toBe('fulfilled')
    const stopping = new AbortController()
    onChannel('zk:watch', () => stopping.abort())
    const removing = outcome(zk.removeWatches('/a', 'Any', { signal: stopping.signal }))
    expect((await connection.expect(OpCode.removeWatches)).body).toMatchObject({ path: '/a' })
    expect(removing.error).toBe(stopping.signal.reason)
  })
})

describe('A subscriber that is notified of a call', () => {
  test.each([
    ['is refused, since the client is closed', 'Closed'],
    ['is refused, since the queue is full', 'QueueFull'],
  ])('may abort one that %s: it rejects once', async (_, code) => {
    const world = new VirtualWorld()
    const { zk } = await connected(world, { advanced: { maxInFlight: 1, maxWaiting: 1 } })
    if (code === 'Closed') void zk.close()
    else for (let count = 0; count < 2; count++) void outcome(zk.exists('/waiting'))
    const stopping = new AbortController()
    onChannel('tracing:zk:request:start', () => stopping.abort())
    const asked = outcome(zk.exists('/a', { signal: stopping.signal }))
    await world.settle()
    expect(asked.error).toMatchObject({ code })
    expect(zk.stats().requests.aborted).toBe(0)
  })
})
