import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import winston from 'winston'
import { VirtualWorld as EnsembleWorld } from '@zk/testing'
import { ExistsResponse, GetDataResponse, OpCode } from '@zk/wire'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect, type ConnectError, type LogFunction, type Logger } from '../../src/index.ts'
import {
  connected,
  expired,
  FakeServer,
  NamedWorld,
  nodeData,
  reconnected,
  outcome,
  someStat,
  VirtualWorld,
} from '../support/index.ts'

type Line = Parameters<LogFunction>

function notebook(): { lines: Line[]; logger: LogFunction } {
  const lines: Line[] = []
  return { lines, logger: (...line) => void lines.push(line) }
}

describe('logger', () => {
  test.each(['alone', 'beside a subscriber of every channel'])(
    'ZooKeeper logs connections and sessions, each on its level, in data that JSON can hold, %s',
    async (which) => {
      const messages: unknown[] = []
      const subscriber = (message: unknown) => void messages.push(message)
      const channels = which === 'alone' ? [] : ['zk:connection', 'zk:session', 'zk:watch', 'zk:anomaly', 'zk:frame']
      for (const name of channels) subscribe(name, subscriber)
      onTestFinished(() => {
        for (const name of channels) unsubscribe(name, subscriber)
      })
      const { lines, logger } = notebook()
      const world = new VirtualWorld()
      const { zk, server, connection } = await connected(world, { logger })
      const id = `0x${zk.session.id.toString(16)}`
      await expired(world, { server, connection })
      expect(lines.map(([level, message]) => `${level} ${message}`)).toEqual([
        'debug zk: dialing',
        'info zk: session established',
        'warn zk: connection lost',
        'debug zk: dialing',
        'error zk: session expired',
      ])
      expect(lines[1]![2]).toEqual({ sessionId: id, server: 'zk1:2181', readOnly: false, timeout: 30_000 })
      expect(lines[2]![2]).toMatchObject({ server: 'zk1:2181', err: new Error('read ECONNRESET') })
      expect(() => JSON.stringify(lines)).not.toThrow()
      expect(messages.length > 0).toBe(which !== 'alone')
    },
  )

  test('ZooKeeper logs how long it had no connection, and how many it dialed, when it reconnects', async () => {
    const world = new EnsembleWorld({ members: 1 })
    const lines: { at: number; message: string; fields: object }[] = []
    const logger: LogFunction = (_, message, fields) => void lines.push({ at: world.now, message, fields })
    await world.run(async () => {
      const zk = await connect(world.connectString, { runtime: world.runtime, logger })
      for (const away of [2_000, 5_000]) {
        lines.length = 0
        world.ensemble.members[0]!.kill()
        await world.elapse(away)
        world.ensemble.members[0]!.restart()
        await world.elapse(3_000)
        const [lost, ...attempts] = lines
        const established = attempts.pop()
        expect([lost?.message, established?.message]).toEqual(['zk: connection lost', 'zk: reconnected'])
        expect(established!.fields).toMatchObject({
          after: expect.closeTo(established!.at - lost!.at, 0) as number,
          attempts: attempts.filter(({ message }) => message === 'zk: dialing').length,
        })
        expect(established!.at - lost!.at).toBeGreaterThan(away - 1)
      }
      await zk.close()
    })
  })

  test('ZooKeeper logs how long no server had answered when a session expires: the client or a server may have ended it', async () => {
    const { lines, logger } = notebook()
    const expiries = () =>
      lines.filter(([, message]) => message === 'zk: session expired').map(([, , fields]) => fields)
    const world = new VirtualWorld()
    const { server, connection } = await connected(world, {
      logger,
      sessionTimeout: 3_000,
      handshake: { timeOut: 3_000 },
    })
    await world.advance(500)
    await expired(world, { server, connection })
    expect(expiries()).toMatchObject([{ sinceReceived: 0 }])
    const alone = notebook()
    const quiet = new VirtualWorld()
    const { connection: silent } = await connected(quiet, { logger: alone.logger, handshake: { timeOut: 3_000 } })
    silent.freeze()
    await quiet.advance(4_000)
    const [line] = alone.lines.filter(([, message]) => message === 'zk: session expired')
    expect(line![2]).toMatchObject({ sinceReceived: 4_000 })
  })

  test('an expiry that a server reports on a sound connection has no error of an outage before', async () => {
    const { logger, lines } = notebook()
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { logger })
    const second = await reconnected(world, { server, connection })
    const read = outcome(zk.exists('/a'))
    second.fail(await second.expect(OpCode.exists), 'SessionExpired')
    await world.settle()
    expect(read.error).toMatchObject({ code: 'SessionExpired' })
    const [line] = lines.filter(([, message]) => message === 'zk: session expired')
    expect(line![2]).not.toHaveProperty('err')
    expect(zk.state).toMatchObject({ name: 'connecting', error: undefined })
  })

  test.each([
    [30, 4_000, 'asked for a sessionTimeout of 30 ms, the server granted 4000 ms: the option is in ms'],
    [400, 4_000, 'asked for a sessionTimeout of 400 ms, the server granted 4000 ms: the option is in ms'],
    [401, 4_000, undefined],
    [30_000, 4_000, undefined],
  ])(
    'ZooKeeper that asked for a session timeout of %d ms and got %d ms warns of a wrong unit: %s',
    async (sessionTimeout, granted, hint) => {
      const { lines, logger } = notebook()
      const world = new VirtualWorld()
      const { server, connection } = await connected(world, { logger, sessionTimeout, handshake: { timeOut: granted } })
      const warnings = () => lines.filter(([level]) => level === 'warn').map(([, message]) => message)
      expect(warnings()).toEqual(hint === undefined ? [] : [`zk: ${hint}`])
      // Once a session: a reconnection says it no more.
      lines.length = 0
      await reconnected(world, { server, connection })
      expect(warnings()).toEqual(['zk: connection lost'])
    },
  )

  test.each([
    ['a tenth of T', 3_000, [3_000]],
    ['less', 2_999, []],
  ])('ZooKeeper warns that its process stood still when a timer is late by %s', async (_, late, warned) => {
    const { lines, logger } = notebook()
    const world = new VirtualWorld()
    await connected(world, { logger })
    const since = lines.length
    // The ping is due after T/3.
    world.stall(10_000 + late)
    await world.settle()
    const warnings = lines.slice(since).filter(([, message]) => message.includes('was stalled'))
    expect(warnings.map(([level, , fields]) => [level, fields['late']])).toEqual(warned.map((ms) => ['warn', ms]))
  })

  test('ZooKeeper logs once a session timeout why no server can be reached, also after the session has expired', async () => {
    const { lines, logger } = notebook()
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { logger, handshake: { timeOut: 3_000 } })
    zk.updateServers('zk1:2181,zk2:2181')
    server.refuse()
    connection.rst()
    const at: number[] = []
    const texts = () =>
      lines
        .filter(([, message]) => message === 'zk: no server can be reached')
        .map(([level, , fields]) => `${level} ${(fields['err'] as Error).message}`)
    for (let ms = 0; ms < 13_000; ms++) {
      const before = texts().length
      await world.advance(1)
      if (texts().length > before) at.push(ms)
    }
    // T is that of the session, and then the one that is asked for.
    expect(zk.state.name).toBe('connecting')
    expect(at[0]).toBeLessThan(500)
    expect(at[1]! - at[0]!).toBeGreaterThanOrEqual(3_000)
    expect(at.length).toBe(2)
    const list = String.raw`zk\d:2181 \(tried \d+\): (connect ECONNREFUSED zk1:2181|getaddrinfo ENOTFOUND zk2)`
    for (const text of texts()) {
      expect(text).toMatch(new RegExp(`^warn no ZooKeeper server could be reached within \\d+ ms: ${list}; ${list}$`))
    }
    // The session that has expired meanwhile, and the one that is found at last, say it too.
    const [expiry] = lines.filter(([, message]) => message === 'zk: session expired')
    expect(expiry![2]['err']).toMatchObject({ message: expect.stringMatching(/ECONNREFUSED|ENOTFOUND/) as string })
  })

  test('connect logs one warning after its first round without a server, long before it gives up', async () => {
    const { lines, logger } = notebook()
    const world = new VirtualWorld()
    FakeServer.listen(world, 'zk1:2181').refuse()
    const connecting = outcome(connect('zk1:2181,zk2:2181', { runtime: world, logger }))
    const warnings = () => lines.filter(([level]) => level === 'warn')
    await world.settle()
    expect(warnings()).toMatchObject([['warn', 'zk: no server can be reached', { err: { name: 'ConnectError' } }]])
    const { message } = warnings()[0]![2]['err'] as ConnectError
    expect(message).toContain('zk1:2181 (tried 1): connect ECONNREFUSED zk1:2181')
    expect(message).toContain('zk2:2181 (tried 1): getaddrinfo ENOTFOUND zk2')
    await world.advance(9_999)
    expect(warnings()).toHaveLength(1)
    await world.advance(1)
    expect(connecting.error).toMatchObject({ name: 'ConnectError' })
    expect(warnings().map(([, message]) => message)).toEqual([
      'zk: no server can be reached',
      'zk: session unreachable',
    ])
  })

  test('ZooKeeper logs what happened at each address of a name when none can be reached', async () => {
    const { lines, logger } = notebook()
    const world = new NamedWorld()
    const addresses = ['10.0.0.1', '10.0.0.2']
    world.names.set('zk', addresses)
    const servers = addresses.map((address) => FakeServer.listen(world, `${address}:2181`))
    void outcome(connect('zk:2181', { runtime: world, logger }))
    await world.settle()
    const connection = await servers.find(({ address }) => address === world.dials[0]!.server)!.accept()
    for (const server of servers) server.refuse()
    connection.rst()
    await world.advance(5_000)
    const reports = lines.filter(([, message]) => message === 'zk: no server can be reached')
    expect(reports).toHaveLength(1)
    const tried = (reports[0]![2]['err'] as ConnectError).servers
    expect(new Set(tried.map(({ address }) => address))).toEqual(new Set(addresses))
  })

  test('ZooKeeper that reconnects logs the error of the last attempt, if one has failed', async () => {
    const { lines, logger } = notebook()
    const world = new VirtualWorld()
    const { server, connection } = await connected(world, { logger })
    const second = await reconnected(world, { server, connection })
    server.refuse()
    second.rst()
    await world.advance(2_000)
    server.listen()
    while (world.dials.at(-1)!.at < world.now() - 1) await world.advance(1)
    await server.accept()
    const found = lines.filter(([, message]) => message === 'zk: reconnected').map(([, , { err }]) => err)
    expect(found).toEqual([undefined, new Error('connect ECONNREFUSED zk1:2181')])
  })

  test('ZooKeeper logs why connect found no server, as a warning: its caller gets the error', async () => {
    const { lines, logger } = notebook()
    const world = new VirtualWorld()
    FakeServer.listen(world, 'zk1:2181').refuse()
    void outcome(connect('zk1:2181', { runtime: world, logger, connectTimeout: 1_000 }))
    await world.advance(1_000)
    const [line] = lines.filter(([, message]) => message === 'zk: session unreachable')
    expect(line).toMatchObject([
      'warn',
      'zk: session unreachable',
      { err: { name: 'ConnectError', message: expect.stringContaining('connect ECONNREFUSED zk1:2181') as string } },
    ])
  })

  test('ZooKeeper logs which server has refused the credentials', async () => {
    const { lines, logger } = notebook()
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { logger })
    void outcome(zk.addAuth('digest', 'a:b'))
    connection.fail(await connection.expect(OpCode.auth), 'AuthFailed')
    await world.settle()
    expect(lines.at(-1)).toMatchObject([
      'error',
      'zk: session authFailed',
      { server: 'zk1:2181', err: { code: 'AuthFailed', server: 'zk1:2181' } },
    ])
  })

  test('ZooKeeper warns of a close that no server has confirmed: the session lasts for its timeout', async () => {
    const { lines, logger } = notebook()
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { logger })
    server.refuse()
    connection.rst()
    void outcome(zk.close())
    await world.advance(15_000)
    expect(lines.at(-1)).toMatchObject(['warn', expect.stringMatching(/^zk: session closed, and no server/), {}])
    expect(lines.at(-1)![2]).toMatchObject({ timeout: 30_000 })
  })

  test('ZooKeeper logs a session that it should resume, and never had, as one that it did not close', async () => {
    const { lines, logger } = notebook()
    const world = new VirtualWorld()
    FakeServer.listen(world, 'zk1:2181').refuse()
    const aborting = new AbortController()
    const session = { id: 5n, passwd: new Uint8Array(16) }
    void outcome(connect('zk1:2181', { runtime: world, logger, session, signal: aborting.signal }))
    await world.advance(100)
    aborting.abort()
    await world.settle()
    expect(lines.at(-1)).toMatchObject(['debug', 'zk: closed without a session', {}])
  })

  test('ZooKeeper warns when a server grants a shorter session timeout than the session had', async () => {
    const { lines, logger } = notebook()
    const world = new VirtualWorld()
    const { server, connection } = await connected(world, { logger, handshake: { timeOut: 4_000 } })
    const again = async (from: typeof connection, timeOut: number) => {
      const { length } = world.dials
      lines.length = 0
      from.rst()
      while (world.dials.length === length) await world.advance(1)
      const next = await server.accept({ timeOut })
      return { next, warnings: lines.filter(([level]) => level === 'warn').slice(1) }
    }
    const same = await again(connection, 4_000)
    expect(same.warnings).toEqual([])
    const shorter = await again(same.next, 1_000)
    expect(shorter.warnings).toMatchObject([
      ['warn', expect.stringContaining('shorter session timeout'), { before: 4_000, timeout: 1_000 }],
    ])
    const longer = await again(shorter.next, 4_000)
    expect(longer.warnings).toEqual([])
    // Another session is no shorter one.
    lines.length = 0
    await expired(world, { server, connection: longer.next })
    await world.advance(1_000)
    await server.accept({ sessionId: 0x77n, timeOut: 1_000 })
    expect(lines.map(([, message]) => message)).toContain('zk: session established')
    expect(lines.filter(([, message]) => message.includes('shorter session timeout'))).toEqual([])
  })

  test('ZooKeeper does not take a request for a short session timeout for a process that stood still', async () => {
    const { lines, logger } = notebook()
    const world = new VirtualWorld()
    const server = FakeServer.listen(world, 'zk1:2181')
    server.refuse()
    void outcome(connect('zk1:2181', { runtime: world, logger, sessionTimeout: 30, connectTimeout: 60_000 }))
    const stills = () => lines.filter(([, message]) => message.includes('was stalled')).map(([, , { late }]) => late)
    await world.advance(1_000)
    for (let count = 0; count < 10; count++) {
      world.stall(130)
      await world.advance(100)
    }
    expect(stills()).toEqual([])
    world.stall(1_000)
    await world.settle()
    expect(stills()).toHaveLength(1)
  })

  test.each([
    [3_600_000, [3_600_000]],
    [-5_000, [-5_000]],
    [2_000, []],
  ])('ZooKeeper warns when the wall clock jumps by %d ms', async (by, jumps) => {
    const { lines, logger } = notebook()
    const world = new VirtualWorld()
    const { connection } = await connected(world, { logger })
    await world.advance(1_000)
    world.setWallClock(by)
    await connection.expectNothing()
    await world.advance(9_500)
    await world.advance(9_500)
    const warned = lines.filter(([, message]) => message.startsWith('zk: the wall clock jumped'))
    expect(warned.map(([level, , { jump }]) => [level, Math.round(jump as number)])).toEqual(
      jumps.map((jump) => ['warn', jump]),
    )
  })

  test('ZooKeeper logs fields whose JSON is one line, an error as its message', async () => {
    const lines: string[] = []
    const logger: LogFunction = (level, message, fields) => lines.push(JSON.stringify({ level, message, ...fields }))
    const world = new VirtualWorld()
    const { connection } = await connected(world, { logger })
    connection.rst()
    await world.settle()
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({
      level: 'warn',
      message: 'zk: connection lost',
      err: 'read ECONNRESET',
    })
  })

  test('ZooKeeper logs a connect that is given up as no end of a session', async () => {
    const { lines, logger } = notebook()
    const world = new VirtualWorld()
    const aborting = new AbortController()
    void outcome(connect('zk1:2181', { runtime: world, logger, signal: aborting.signal }))
    aborting.abort()
    await world.settle()
    expect(lines.map(([level, message]) => `${level} ${message}`)).toContain('debug zk: closed without a session')
    expect(lines.map(([, message]) => message)).not.toContain('zk: session closed')
  })

  test('ZooKeeper logs durations to a tenth of a ms', async () => {
    const { lines, logger } = notebook()
    const world = new VirtualWorld()
    const { connection } = await connected(world, { logger })
    await world.advance(1_000 / 3)
    connection.rst()
    await world.settle()
    expect(lines.at(-1)![2]['duration']).toBe(333.3)
  })

  test('ZooKeeper logs no loss of the connection that ends with its session', async () => {
    const { lines, logger } = notebook()
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { logger })
    const closing = outcome(zk.close())
    connection.reply(await connection.expect(OpCode.closeSession))
    await world.settle()
    expect(closing.status).toBe('fulfilled')
    expect(lines.map(([level, message]) => `${level} ${message}`)).toEqual([
      'debug zk: dialing',
      'info zk: session established',
      'info zk: session closed',
    ])
  })

  test('ZooKeeper logs anomalies and throttled requests, no data and no credentials', async () => {
    const { lines, logger } = notebook()
    const world = new VirtualWorld()
    const auth = [{ scheme: 'digest', auth: 'alice:secret' }]
    const { zk, connection } = await connected(world, { logger, auth })
    void outcome(zk.create('/a', 'top secret'))
    connection.fail(await connection.expect(OpCode.create2), 'ThrottledOp')
    connection.event(77, '/a')
    await world.settle()
    expect(lines.slice(2).map(([level, message]) => `${level} ${message}`)).toEqual([
      'debug zk: the server was too busy for a request',
      'warn zk: protocol anomaly',
    ])
    expect(JSON.stringify(lines)).not.toMatch(/secret|alice/)
  })

  const failing = () => {
    throw new Error('of the logger')
  }
  test.each<[string, () => unknown]>([
    ['throws', failing],
    ['rejects', async () => failing()],
  ])('ZooKeeper goes on though its logger %s', async (_, logger) => {
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world, { logger: logger as LogFunction })
    const read = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    connection.event(77, '/a')
    const next = outcome(zk.exists('/b'))
    connection.reply(await connection.expect(OpCode.exists), ExistsResponse, { stat: someStat })
    await world.settle()
    expect([read.status, next.status]).toEqual(['fulfilled', 'fulfilled'])
  })
})

/** A client of a server that logs how it connects and loses its connection. */
async function logged(logger: Logger): Promise<void> {
  const world = new VirtualWorld()
  const { connection } = await connected(world, { logger })
  connection.rst()
  await world.settle()
}

describe('the option logger', () => {
  /** What is written to the stream, a line an entry. */
  function sink(): { stream: Writable; lines: () => Record<string, unknown>[] } {
    let text = ''
    const stream = new Writable({
      write(chunk, _, done) {
        text += String(chunk)
        done()
      },
    })
    return {
      stream,
      lines: () =>
        text
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Record<string, unknown>),
    }
  }

  test('connect takes a logger of pino, which writes messages, fields, and errors with their stacks', async () => {
    const { stream, lines } = sink()
    await logged(pino({ level: 'debug' }, stream))
    const stack = expect.stringContaining('ECONNRESET') as string
    expect(lines()).toMatchObject([
      { level: 20, msg: 'zk: dialing', server: 'zk1:2181' },
      { level: 30, msg: 'zk: session established', timeout: 30_000 },
      { level: 40, msg: 'zk: connection lost', err: { message: 'read ECONNRESET', stack } },
    ])
  })

  test('connect takes a child of a pino logger', async () => {
    const { stream, lines } = sink()
    await logged(pino(stream).child({ part: 'zk' }))
    expect(lines()[0]).toMatchObject({ msg: 'zk: session established', part: 'zk', timeout: 30_000 })
  })

  test('connect takes a logger of winston, which writes messages and fields, and errors as their messages', async () => {
    const { stream, lines } = sink()
    const logger = winston.createLogger({ level: 'debug', transports: [new winston.transports.Stream({ stream })] })
    await logged(logger)
    logger.end()
    await once(logger, 'finish')
    expect(lines()).toMatchObject([
      { level: 'debug', message: 'zk: dialing', server: 'zk1:2181' },
      { level: 'info', message: 'zk: session established', timeout: 30_000 },
      { level: 'warn', message: 'zk: connection lost', err: 'read ECONNRESET' },
    ])
  })

  test('connect takes console, and calls it with the message first', async () => {
    const lines: unknown[][] = []
    const at = (level: string) => (message: string, fields: object) => void lines.push([level, message, fields])
    await logged({ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') })
    expect(lines).toMatchObject([
      ['debug', 'zk: dialing', {}],
      ['info', 'zk: session established', { timeout: 30_000 }],
      ['warn', 'zk: connection lost', {}],
    ])
    const typed: Logger = console
    expect(typed).toBe(console)
  })

  test.each([[{}], [{ info() {} }], ['console'], [null]])(
    'connect refuses %o as a logger, and says what is one',
    async (logger) => {
      const connecting = connect('zk1:2181', { logger: logger as never })
      await expect(connecting).rejects.toThrow(/^logger must be an object with the methods debug, info, warn and error/)
    },
  )
})
