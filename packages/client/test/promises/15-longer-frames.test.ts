// A newer server may have more to say in every frame: what stands behind the fields that are known is passed over.
import {
  concat,
  ErrorResponse,
  GetDataResponse,
  MultiResponse,
  OpCode,
  SetDataResponse,
  SetSASLResponse,
  SyncResponse,
} from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { connect, type ConnectionHandler, type DialTarget, op, type SaslMechanism } from '../../src/index.ts'
import { FakeServer, nodeData, outcome, reconnected, someStat, VirtualWorld } from '../support/index.ts'

const T = 30_000

/** A world in which every frame of a server has so many bytes more. */
class LongerWorld extends VirtualWorld {
  readonly #more: Uint8Array

  constructor(more: number, fill: number) {
    super()
    this.#more = new Uint8Array(more).fill(fill)
  }

  override dial(target: DialTarget, handler: ConnectionHandler) {
    return super.dial(target, {
      opened: () => handler.opened(),
      received: (bytes) => handler.received(this.#longer(bytes)),
      drained: () => handler.drained(),
      lost: (error) => handler.lost(error),
    })
  }

  /** The bytes of whole frames, as the test's servers send them. */
  #longer(bytes: Uint8Array): Uint8Array {
    const frames: Uint8Array[] = []
    for (let at = 0; at < bytes.byteLength;) {
      const end = at + 4 + new DataView(bytes.buffer, bytes.byteOffset + at).getInt32(0)
      const frame = concat([bytes.subarray(at, end), this.#more])
      new DataView(frame.buffer, frame.byteOffset).setInt32(0, frame.byteLength - 4)
      frames.push(frame)
      at = end
    }
    return concat(frames)
  }
}

const bytes = (text: string) => new TextEncoder().encode(text)

describe.each([
  [1, 0],
  [4, 0xff],
  [21, 1],
])('With %i bytes more in every frame, all of them %i', (more, fill) => {
  test('ZooKeeper takes handshakes, credentials, replies, events and pings, and counts nothing for odd', async () => {
    const world = new LongerWorld(more, fill)
    const server = FakeServer.listen(world, 'zk1:2181')
    const options = { runtime: world, sessionTimeout: T, auth: [{ scheme: 'digest', auth: 'a:b' }] }
    const connecting = outcome(connect('zk1:2181', options))
    const connection = await server.accept()
    connection.reply(await connection.expect(OpCode.auth))
    await world.settle()
    const zk = connecting.value
    const { session } = zk

    const read = outcome(zk.getDataAndWatch('/a'))
    const missing = outcome(zk.getData('/b'))
    const written = outcome(zk.setData('/a', 'y'))
    const multi = outcome(zk.multi([op.check('/a')]))
    const synced = outcome(zk.sync('/'))
    const watch = outcome(zk.watch('/c'))
    const [first, second, third, fourth, fifth, sixth] = await connection.expectAll(
      OpCode.getData,
      OpCode.getData,
      OpCode.setData,
      OpCode.multi,
      OpCode.sync,
      OpCode.addWatch,
    )
    connection.reply(first, GetDataResponse, nodeData('x'))
    connection.fail(second, 'NoNode')
    connection.reply(third, SetDataResponse, { stat: someStat })
    connection.reply(fourth, MultiResponse, [{ type: OpCode.check, response: {} }])
    connection.reply(fifth, SyncResponse, { path: '/' })
    connection.reply(sixth, ErrorResponse, { err: 0 })
    await world.advance(T)
    expect(connection.isClosed).toBe(false)
    expect(new TextDecoder().decode(read.value.data)).toBe('x')
    expect(missing.error).toMatchObject({ code: 'NoNode' })
    expect([written, multi, synced, watch].map(({ status }) => status)).toEqual(Array(4).fill('fulfilled'))

    const next = await reconnected(world, { server, connection })
    next.reply(await next.expect(OpCode.auth))
    next.reply(await next.expect(OpCode.setWatches2))
    next.event('NodeDataChanged', '/a')
    next.event('NodeCreated', '/c')
    const changed = outcome(read.value.changed)
    const events = [outcome(watch.value.next()), outcome(watch.value.next())]
    await world.settle()
    expect(changed.value).toEqual({ type: 'NodeDataChanged', path: '/a' })
    expect(events.map(({ value }) => value.value?.type)).toEqual(['Gap', 'NodeCreated'])
    const closing = outcome(zk.close())
    next.reply(await next.expect(OpCode.closeSession))
    await world.settle()
    expect(closing.status).toBe('fulfilled')
    expect([session.anomalies, world.dials.length]).toEqual([0, 2])
  })

  test('connect takes the tokens of SASL', async () => {
    const world = new LongerWorld(more, fill)
    const server = FakeServer.listen(world, 'zk1:2181')
    const tokens: (string | undefined)[] = []
    const sasl: SaslMechanism = {
      name: 'HEARS',
      start: () => ({
        first: bytes('let me in'),
        step: (token) => {
          tokens.push(token && new TextDecoder().decode(token))
          return tokens.length < 2 ? bytes('still me') : undefined
        },
      }),
    }
    const connecting = outcome(connect('zk1:2181', { runtime: world, sasl }))
    const connection = await server.accept()
    connection.reply(await connection.expect(OpCode.sasl), SetSASLResponse, { token: bytes('who?') })
    connection.reply(await connection.expect(OpCode.sasl), SetSASLResponse, { token: null })
    await world.settle()
    expect(tokens).toEqual(['who?', undefined])
    expect(connecting.status).toBe('fulfilled')
  })

  test('ZooKeeper learns that its session has expired', async () => {
    const world = new LongerWorld(more, fill)
    const server = FakeServer.listen(world, 'zk1:2181')
    const connecting = outcome(connect('zk1:2181', { runtime: world }))
    const connection = await server.accept()
    const { session } = connecting.value
    connection.rst()
    await world.advance(1_000)
    const next = await server.connection()
    await next.expectConnect()
    next.expire()
    await world.settle()
    expect(session.signal.reason).toMatchObject({ code: 'SessionExpired' })
  })
})
