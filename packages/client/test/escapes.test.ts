// Text from servers, nodes and runtimes is shown escaped: in messages and stacks of errors, in states, log lines and messages of channels.
import { GetChildren2Response, OpCode, SetSASLResponse } from '@zk/wire'
import { expect, test } from 'vitest'
import { connect, type ConnectionHandler, type LookupHandler, type Runtime, walk } from '../src/index.ts'
import { madePrintable } from '../src/base/errors.ts'
import { connected, FakeServer, outcome, VirtualWorld } from './support/index.ts'
import { errorTexts, Seen } from './support/seen.ts'
import { wireStat } from './support/stat.ts'

/** Clears a screen in two ways, turns the direction, and begins a line of its own. */
const EVIL = 'evil\u001b[2J\u009b2J\u007f\u202e\u2028\r\nFORGED line'
const ESCAPED = 'evil\\u001b[2J\\u009b2J\\u007f\\u202e\\u2028\\u000d\\u000aFORGED line'
/** ZooKeeper accepts it in a path, in spite of its direction. */
const TURNED = '/evil\u202e'

/** Line ends are fine in stacks, if no line is forged. */
function expectEscaped(texts: readonly string[]): void {
  for (const text of texts) {
    expect(text).not.toMatch(/^FORGED/m)
    expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_C}\p{Zl}\p{Zp}]/u)
  }
}

const stated = (error: unknown) => expectEscaped(errorTexts(error))

test('ZooKeeper shows text of servers and of a runtime escaped in errors, states, log lines and channels', async () => {
  using seen = new Seen()
  const world = new VirtualWorld()
  // Where the host comes from a configuration or a provider, and the errors are those of TLS or of a look-up.
  const hosts = (servers: readonly { host: string; port: number }[]) => ({
    size: 1,
    next: () => servers[0]!,
    connected: () => {},
    update: () => false,
  })
  const { zk, server, connection } = await connected(world, { logger: seen.logger, advanced: { hostProvider: hosts } })
  const read = outcome(zk.getData(TURNED))
  connection.fail(await connection.expect(OpCode.getData), 'NoNode')
  connection.event(99, `/${EVIL}`)
  connection.event('NodeDeleted', `/${EVIL}`)
  const walking = outcome(walk(zk, '/').next())
  connection.reply(await connection.expect(OpCode.getChildren2), GetChildren2Response, {
    children: [EVIL],
    stat: wireStat,
  })
  await world.settle()
  server.refuse()
  const lost = new AggregateError([new Error(EVIL)], EVIL, { cause: new Error('TLS', { cause: new Error(EVIL) }) })
  connection.rst(lost)
  await world.settle()
  expect(zk.state).toMatchObject({ name: 'disconnected', error: { message: ESCAPED } })
  for (const { error } of [read, walking]) {
    expect(error).toBeInstanceOf(Error)
    stated(error)
  }
  stated(lost)
  expectEscaped([JSON.stringify(zk.state)])
  await world.advance(30_000)
  expect(seen.lines.join('')).toContain(ESCAPED)
  expectEscaped(seen.lines)
  seen.values.forEach((value) => Object.values(value as object).forEach(stated))
})

test.each(['an error of a dial', 'an error of a look-up', 'a throw of a dial', 'an error of a SASL mechanism'])(
  'connect shows %s escaped, and a host that no connect string can have',
  async (what) => {
    using seen = new Seen()
    const world = new VirtualWorld()
    const fails = (handler: { failed?: (error: Error) => void; lost?: (error: Error) => void }) =>
      queueMicrotask(() => (handler.failed ?? handler.lost)!.call(handler, new Error(EVIL)))
    const runtime: Runtime = {
      now: () => world.now(),
      wallNow: () => world.wallNow(),
      setTimer: (delay, callback) => world.setTimer(delay, callback),
      random: () => world.random(),
      uuid: () => world.uuid(),
      dial: (target, handler) => world.dial(target, handler),
      ...(what === 'an error of a look-up' && { resolve: (_: string, handler: LookupHandler) => fails(handler) }),
      ...(what.endsWith('of a dial') && {
        dial: (_: unknown, handler: ConnectionHandler) => {
          if (what.startsWith('a throw')) throw new Error(EVIL)
          fails(handler)
          return { write: () => true, close: () => {} }
        },
      }),
    }
    const isSasl = what.endsWith('mechanism')
    const sasl = { name: 'ANY', start: () => ({ step: () => Promise.reject(new Error(EVIL)) }) }
    const server = FakeServer.listen(world, 'zk1:2181')
    const host = isSasl ? 'zk1' : `zk1${EVIL}`
    const options = {
      runtime,
      logger: seen.logger,
      // No second attempt ends by then: its error would take the place of the first one.
      connectTimeout: 200,
      advanced: {
        hostProvider: () => ({ size: 1, next: () => ({ host, port: 2181 }), connected: () => {}, update: () => false }),
      },
      ...(isSasl && { sasl }),
    }
    const connecting = outcome(connect('zk1', options))
    if (isSasl) {
      const connection = await server.accept()
      connection.reply(await connection.expect(OpCode.sasl), SetSASLResponse, { token: new Uint8Array(1) })
    }
    await world.advance(200)
    expect(String(connecting.error)).toContain(ESCAPED)
    stated(connecting.error)
    expect(seen.lines.join('')).toContain(ESCAPED)
    expectEscaped(seen.lines)
  },
)

test('madePrintable skips read-only properties, and stops at an error that is its own cause', () => {
  const frozen = Object.freeze(new Error(EVIL))
  expect(madePrintable(frozen)).toBe(frozen)
  const own = new Error(EVIL)
  own.cause = own
  expect(madePrintable(own)).toMatchObject({ message: ESCAPED, stack: expect.stringContaining(`Error: ${ESCAPED}`) })
  for (const value of [undefined, null, EVIL, { message: 1 }]) expect(madePrintable(value)).toBe(value)
})

test('madePrintable escapes a message that has the patterns of String.replace', () => {
  const error = madePrintable(new Error("bad \u001b[2J name $& $' $` $$ in certificate"))
  const escaped = "bad \\u001b[2J name $& $' $` $$ in certificate"
  expect(error).toMatchObject({ message: escaped, stack: expect.stringContaining(`Error: ${escaped}\n`) })
  expectEscaped([error.message, error.stack!])
})
