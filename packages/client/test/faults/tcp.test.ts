// Faults of the wire where real TCP is what matters. Nothing here depends on how long anything takes.
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { ConnectRequest, decode, ErrorResponse, FrameDecoder, GetDataResponse, SyncResponse, Xid } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import {
  connect,
  type ConnectOptions,
  type PersistentWatchEvent,
  type WatchIterator,
  type ZooKeeper,
} from '../../src/index.ts'
import { eventFrame, handshakeFrame, nodeData, outcome, replyFrame } from '../support/index.ts'
import { readRequest, type ReceivedRequest } from '../support/requests.ts'
import { TcpServer } from '../support/tcp-server.ts'

/** Session timeouts in ms. Where connections are lost a short one: a client is back within T/30. */
const SHORT = 3_000
/** Where they must not be, one that no machine is too slow for. */
const LONG = 600_000

/** The server's end of a connection, after its handshake. */
class Accepted {
  readonly socket: Socket
  readonly #frames: AsyncGenerator<Uint8Array>

  /** The next one; it is granted the session it asks for. */
  static async by(server: TcpServer, timeOut = SHORT): Promise<Accepted> {
    const accepted = new Accepted(await server.connection())
    const { value } = await accepted.#frames.next()
    const { sessionId } = decode(ConnectRequest, value as Uint8Array)
    const granted = { timeOut, sessionId: sessionId === 0n ? 5n : sessionId, passwd: new Uint8Array(16) }
    accepted.socket.write(handshakeFrame({ ...granted, readOnly: false }))
    return accepted
  }

  private constructor(socket: Socket) {
    this.socket = socket
    this.#frames = framesOf(socket)
  }

  /** The next request that is no ping. */
  async request(): Promise<ReceivedRequest> {
    for (;;) {
      const { value, done } = await this.#frames.next()
      if (done === true) throw new Error('the client has closed the connection')
      const request = readRequest(value)
      if (request.xid !== Xid.ping) return request
      this.socket.write(replyFrame({ xid: Xid.ping, zxid: 0n }))
    }
  }

  /** Answers the next request, which must be a getData. */
  async serve(text: string): Promise<void> {
    const request = await this.request()
    expect(request.name).toBe('getData')
    this.socket.write(replyFrame(request, GetDataResponse, nodeData(text)))
  }

  /** Confirms the end of the session, and what is still asked before it. */
  async close(zk: ZooKeeper): Promise<void> {
    const closing = zk.close()
    for (let name = ''; name !== 'closeSession';) {
      const request = await this.request()
      this.socket.write(replyFrame(request))
      name = request.name
    }
    await closing
  }
}

async function* framesOf(socket: Socket): AsyncGenerator<Uint8Array> {
  const decoder = new FrameDecoder()
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) {
    decoder.push(chunk as Uint8Array)
    for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) yield frame
  }
}

async function connected(server: TcpServer, sessionTimeout: number, options: ConnectOptions = {}) {
  const connecting = connect(`${server.host}:${server.port}`, { sessionTimeout, ...options })
  const accepted = await Accepted.by(server, sessionTimeout)
  return { zk: await connecting, accepted }
}

const text = ({ data }: { readonly data: Uint8Array }) => new TextDecoder().decode(data)

describe('A connection that ends', () => {
  test.each<[string, (socket: Socket) => void]>([
    ['a FIN', (socket) => socket.end()],
    ['a FIN in the middle of a frame', (socket) => socket.end(replyFrame({ xid: 1 }).subarray(0, 9))],
    ['an RST', (socket) => socket.resetAndDestroy()],
  ])('ZooKeeper goes on in its session after %s: a read is repeated, a write is not (W23)', async (_, end) => {
    await using server = await TcpServer.listen()
    const { zk, accepted } = await connected(server, SHORT)
    const { session } = zk
    const write = outcome(zk.setData('/a', 'x'))
    const read = zk.getData('/b')
    await accepted.request()
    await accepted.request()
    end(accepted.socket)
    const second = await Accepted.by(server)
    const sync = await second.request()
    expect(sync.name).toBe('sync')
    second.socket.write(replyFrame(sync, SyncResponse, { path: '/' }))
    await second.serve('again')
    expect(text(await read)).toBe('again')
    expect(write.error).toMatchObject({ code: 'ConnectionLoss', outcomeUnknown: true })
    expect(zk.session).toBe(session)
    await second.close(zk)
  })
})

describe('A server whose TCP window is closed', () => {
  test('ZooKeeper keeps what the socket does not accept, drops requests that no caller waits for, and goes on (W22)', async () => {
    await using server = await TcpServer.listen()
    const { zk, accepted } = await connected(server, LONG, { advanced: { maxInFlightBytes: 2 ** 31 - 1 } })
    accepted.socket.pause()
    const data = new Uint8Array(100_000)
    const abort = new AbortController()
    const calls = Array.from({ length: 500 }, () => outcome(zk.setData('/a', data, { signal: abort.signal })))
    // Turns of the loop, in which the kernel takes what it will.
    for (let turn = 0; turn < 1_000; turn++) await new Promise((resolve) => setImmediate(resolve))
    const { bytes, flow } = zk.stats()
    expect(bytes.sent).toBeLessThan(calls.length * data.byteLength)
    expect(flow.waiting).toBeGreaterThan(0)
    abort.abort(new Error('enough'))
    await new Promise((resolve) => setImmediate(resolve))
    expect(calls.every(({ error }) => error === abort.signal.reason)).toBe(true)
    expect(zk.stats().flow.waitingBytes).toBe(0)

    // What was handed over still comes, and not a request more; a call behind it is served.
    const read = zk.getData('/b')
    accepted.socket.resume()
    for (let written = 0; written < flow.inFlight; written++) {
      const request = await accepted.request()
      expect(request.name).toBe('setData')
      accepted.socket.write(replyFrame({ xid: request.xid, err: 'NoNode' }))
    }
    await accepted.serve('at last')
    expect(text(await read)).toBe('at last')
    await accepted.close(zk)
  })
})

describe('10^6 events at once', () => {
  const EVENTS = 1_000_000
  const BATCH = 1_000
  /** Node reads so much of a socket before it looks at anything else: 32 chunks of 64 KiB. */
  const MOST_AT_ONCE = 32 * 64 * 1024

  test(`ZooKeeper takes ${EVENTS} events, misses no reply among them, and lets others have their turn (W30)`, async () => {
    await using server = await TcpServer.listen()
    const { zk, accepted } = await connected(server, LONG)
    const watching = zk.watch('/a', { maxQueued: 100 })
    const addWatch = await accepted.request()
    accepted.socket.write(replyFrame(addWatch, ErrorResponse, { err: 0 }))
    const events: WatchIterator<PersistentWatchEvent> = await watching
    const read = zk.getData('/b')
    const asked = await accepted.request()

    let turns = 0
    let isOver = false
    const count = () => {
      turns++
      if (!isOver) setImmediate(count)
    }
    setImmediate(count)
    const batch = Uint8Array.from(
      Buffer.concat(Array.from({ length: BATCH }, () => eventFrame('NodeDataChanged', '/a'))),
    )
    for (let sent = 0; sent < EVENTS; sent += BATCH) {
      if (sent === EVENTS / 2) accepted.socket.write(replyFrame(asked, GetDataResponse, nodeData('among them')))
      if (!accepted.socket.write(batch)) await once(accepted.socket, 'drain')
    }
    expect(text(await read)).toBe('among them')
    const last = zk.getData('/c')
    await accepted.serve('behind them')
    expect(text(await last)).toBe('behind them')
    isOver = true
    expect(zk.stats().events).toBe(EVENTS)
    // The turn after the last bytes has not come yet when they are delivered.
    expect(turns + 1).toBeGreaterThan(((EVENTS / BATCH) * batch.byteLength) / MOST_AT_ONCE)
    // Nobody has taken one: the queue holds a Gap and at most what came behind it.
    expect((await events.next()).value).toMatchObject({ type: 'Gap', cause: 'overflow' })
    await events.return()
    await accepted.close(zk)
  })
})
