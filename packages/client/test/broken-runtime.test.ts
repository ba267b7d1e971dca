// A runtime of the program that throws where it should not: that costs a connection, and nothing else.
import { inspect } from 'node:util'
import { GetDataResponse, OpCode, SyncResponse } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { connect, type Logger, type RuntimeConnection } from '../src/index.ts'
import { connected, FakeServer, nodeData, outcome, VirtualWorld } from './support/index.ts'

const T = 30_000

type Method = 'dial' | 'write' | 'close'

/** A world in which methods of connections throw. It counts how often each connection is closed. */
class BrokenWorld extends VirtualWorld {
  /** What the methods throw. */
  thrown: unknown = new Error('the socket is broken')
  /** The methods that throw for connections to this server. */
  #broken: { readonly host: string; readonly methods: readonly Method[] } | undefined
  /** Called before a connection is written to. */
  beforeWrite = () => {}
  /** The number of calls of `close` for each connection. */
  readonly closes: number[] = []

  override dial(...[target, handler]: Parameters<VirtualWorld['dial']>): RuntimeConnection {
    const throwIfBroken = (method: Method) => {
      if (this.#broken?.host === target.host && this.#broken.methods.includes(method)) throw this.thrown
    }
    throwIfBroken('dial')
    const connection = super.dial(target, handler)
    const index = this.closes.push(0) - 1
    return {
      write: (bytes) => {
        this.beforeWrite()
        throwIfBroken('write')
        return connection.write(bytes)
      },
      close: () => {
        this.closes[index]!++
        connection.close()
        throwIfBroken('close')
      },
    }
  }

  break(host: string, ...methods: Method[]): void {
    this.#broken = { host, methods }
  }

  mend(): void {
    this.#broken = undefined
  }
}

function notebook(): { lines: string[]; logger: Logger } {
  const lines: string[] = []
  return { lines, logger: (level, message, fields) => void lines.push(`${level} ${message} ${inspect(fields)}`) }
}

/** The log lines with this message. */
const logged = (lines: readonly string[], message: string) => lines.filter((line) => line.includes(message))

describe('A runtime that throws', () => {
  test.each<readonly [string, Method[]]>([
    ['write', ['write']],
    ['write and close', ['write', 'close']],
  ])('ZooKeeper goes on in its session when %s of its connection throw', async (_, methods) => {
    const world = new BrokenWorld()
    const { lines, logger } = notebook()
    const { zk, server } = await connected(world, { sessionTimeout: T, logger })
    const { id, connection } = zk.session
    world.break('zk1', ...methods)
    const writing = outcome(zk.setData('/a', 'x'))
    const reading = outcome(zk.getData('/a'))
    await world.settle()
    expect(writing.error).toMatchObject({ code: 'ConnectionLoss', outcomeUnknown: true, cause: world.thrown })
    expect([zk.state.name, connection?.signal.reason]).toEqual(['disconnected', world.thrown])
    expect(logged(lines, 'connection lost')).toEqual([expect.stringContaining('the socket is broken')])
    world.mend()
    await world.advance(10_000)
    const next = await server.accept()
    next.reply(await next.expect(OpCode.sync), SyncResponse, { path: '/a' })
    next.reply(await next.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    await world.settle()
    expect([reading.status, zk.session.id, world.closes]).toEqual(['fulfilled', id, [1, 0]])
  })

  test.each<readonly [Method]>([['dial'], ['write']])(
    'connect names the error that %s throws, and connects when it works',
    async (method) => {
      const world = new BrokenWorld()
      FakeServer.listen(world, 'zk1:2181')
      world.break('zk1', method)
      const failing = outcome(connect('zk1:2181', { runtime: world, connectTimeout: 5_000 }))
      await world.advance(5_000)
      expect(failing.error).toMatchObject({ name: 'ConnectError', servers: [{ error: world.thrown }] })
      const connecting = outcome(connect('zk1:2181', { runtime: world, sessionTimeout: T, connectTimeout: 60_000 }))
      await world.advance(5_000)
      world.mend()
      const server = FakeServer.listen(world, 'zk1:2181')
      await world.advance(10_000)
      await server.accept()
      await world.settle()
      expect(connecting.value.state.name).toBe('connected')
    },
  )

  test.each([['a text'], [undefined], [{ message: 'from another realm' }]])(
    'ConnectError has an Error for a runtime that throws %o',
    async (thrown) => {
      const world = new BrokenWorld()
      FakeServer.listen(world, 'zk1:2181')
      world.break('zk1', 'write')
      world.thrown = thrown
      const connecting = outcome(connect('zk1:2181', { runtime: world, connectTimeout: 5_000 }))
      await world.advance(5_000)
      const message = typeof thrown === 'object' ? thrown.message : String(thrown)
      expect(connecting.error).toMatchObject({ name: 'ConnectError', servers: [{ error: { message, cause: thrown } }] })
    },
  )

  test('ZooKeeper.close resolves when the close of its connection throws', async () => {
    const world = new BrokenWorld()
    const { zk, connection } = await connected(world, { sessionTimeout: T })
    world.break('zk1', 'close')
    const closing = outcome(zk.close())
    connection.reply(await connection.expect(OpCode.closeSession))
    await world.settle()
    expect([closing.status, world.closes, world.timers]).toEqual(['fulfilled', [1], 0])
  })

  test('ZooKeeper leaves a silent server whose connection throws when it is closed', async () => {
    const world = new BrokenWorld()
    const { zk, server, connection } = await connected(world, { sessionTimeout: T })
    world.break('zk1', 'close')
    connection.freeze()
    await world.advance(T)
    await server.accept()
    expect([zk.state.name, world.closes]).toEqual(['connected', [1, 0]])
  })

  test.each<readonly [Method]>([['dial'], ['write'], ['close']])(
    'ZooKeeper.updateServers keeps the connection while %s throws at a server of the new list',
    async (method) => {
      const world = new BrokenWorld()
      const { lines, logger } = notebook()
      const { zk, connection } = await connected(world, { sessionTimeout: T, logger })
      FakeServer.listen(world, 'zk2:2181').onTrial = 'ignore'
      world.break('zk2', method)
      zk.updateServers('zk2:2181')
      await world.advance(T)
      const why = method === 'close' ? 'no answer in time' : 'the socket is broken'
      expect(logged(lines, 'no server of the new list')[0]).toContain(why)
      expect([zk.state.name, connection.isClosed]).toEqual(['connected', false])
      world.mend()
      const other = FakeServer.listen(world, 'zk2:2181')
      for (let ms = 0; !connection.isClosed && ms < 2 * T; ms += 20) await world.advance(20)
      await other.accept()
      // No connection is closed twice, that of a probe included.
      expect([zk.session.connection?.server, Math.max(...world.closes)]).toEqual(['zk2:2181', 1])
    },
  )

  test('ZooKeeper moves to a server whose connection throws at the end of its trial', async () => {
    const world = new BrokenWorld()
    const { zk, connection } = await connected(world, { sessionTimeout: T })
    const other = FakeServer.listen(world, 'zk2:2181')
    // It gives a new session in place of one that it does not know: the client closes that.
    other.onTrial = { timeOut: T, sessionId: 9n }
    zk.updateServers('zk2:2181')
    // The trial writes a handshake, which works, and the end of the new session, which does not.
    let writes = 0
    world.beforeWrite = () => (++writes === 2 ? world.break('zk2', 'write', 'close') : world.mend())
    await world.advance(1_000)
    expect(writes).toBe(3)
    await other.accept()
    expect([zk.session.connection?.server, connection.isClosed]).toEqual(['zk2:2181', true])
  })
})
