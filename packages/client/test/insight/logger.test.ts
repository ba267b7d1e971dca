import { ExistsResponse, GetDataResponse, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import type { Logger } from '../../src/index.ts'
import { connected, expired, nodeData, outcome, someStat, VirtualWorld } from '../support/index.ts'

type Line = [level: string, message: string, bindings: object]

function notebook(): { lines: Line[]; logger: Logger } {
  const lines: Line[] = []
  const at = (level: string) => (bindings: object, message: string) => void lines.push([level, message, bindings])
  return { lines, logger: { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') } }
}

describe('logger', () => {
  test('ZooKeeper logs connections and sessions, each on its level, in data that JSON can hold', async () => {
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
      'warn zk: something the protocol does not foresee',
    ])
    expect(JSON.stringify(lines)).not.toMatch(/secret|alice/)
  })

  test('ZooKeeper goes on though its logger throws', async () => {
    const fail = () => {
      throw new Error('of the logger')
    }
    const world = new VirtualWorld()
    const logger = { debug: fail, info: fail, warn: fail, error: fail }
    const { zk, connection } = await connected(world, { logger })
    const read = outcome(zk.getDataAndWatch('/a'))
    connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
    connection.event(77, '/a')
    const next = outcome(zk.exists('/b'))
    connection.reply(await connection.expect(OpCode.exists), ExistsResponse, { stat: someStat })
    await world.settle()
    expect([read.status, next.status]).toEqual(['fulfilled', 'fulfilled'])
  })

  test('ZooKeeper calls the methods of the logger as methods', async () => {
    class OwnLogger {
      readonly lines: string[] = []
      debug(_: object, message: string) {
        this.lines.push(message)
      }
      info(_: object, message: string) {
        this.lines.push(message)
      }
      warn() {}
      error() {}
    }
    const logger = new OwnLogger()
    await connected(new VirtualWorld(), { logger })
    expect(logger.lines).toEqual(['zk: dialing', 'zk: session established'])
  })
})
