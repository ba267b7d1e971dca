// The one file that opens sockets, over real TCP on this machine.
import dns from 'node:dns'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { ConnectRequest, decode, FrameDecoder, GetDataResponse } from '@zk/wire'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { connect, type ConnectionHandler } from '../src/index.ts'
import { dial } from '../src/runtime/transport.ts'
import { handshakeFrame, nodeData, replyFrame } from './support/index.ts'
import { readRequest } from './support/requests.ts'
import { TcpServer, writeByteByByte } from './support/tcp-server.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** The calls that a connection has made to its owner, and the next call. */
class Recorder implements ConnectionHandler {
  readonly all: string[] = []
  #received = new Uint8Array(0)
  #awaited: { what: string; resolve: () => void } | undefined

  /** Waits until this was recorded. */
  async until(what: string): Promise<void> {
    if (!this.all.includes(what)) await new Promise<void>((resolve) => (this.#awaited = { what, resolve }))
  }

  opened(): void {
    this.#hear('opened')
  }

  received(bytes: Uint8Array): void {
    this.#received = Uint8Array.from(Buffer.concat([this.#received, bytes]))
    this.#hear(`received ${new TextDecoder().decode(this.#received)}`)
  }

  drained(): void {
    this.#hear('drained')
  }

  lost(error: Error): void {
    this.#hear('lost')
    this.all.push(error.message)
  }

  #hear(what: string): void {
    this.all.push(what)
    if (this.#awaited?.what === what) this.#awaited.resolve()
  }
}

/** Everything that is due in this process has happened. */
async function turns(): Promise<void> {
  for (let count = 0; count < 10; count++) await new Promise((resolve) => setImmediate(resolve))
}

describe('dial', () => {
  test('dial reports the opened connection, never before it has returned', async () => {
    await using server = await TcpServer.listen()
    const recorder = new Recorder()
    const connection = dial(server, recorder)
    expect(recorder.all).toEqual([])
    await recorder.until('opened')
    connection.close()
  })

  test('dial reports why a connection was refused, and nothing after it', async () => {
    const server = await TcpServer.listen()
    await server[Symbol.asyncDispose]()
    const recorder = new Recorder()
    const connection = dial(server, recorder)
    await recorder.until('lost')
    await turns()
    expect(recorder.all).toEqual(['lost', `connect ECONNREFUSED 127.0.0.1:${server.port}`])
    connection.close()
  })

  test('dial reports a FIN behind what came before it (W23)', async () => {
    await using server = await TcpServer.listen()
    const recorder = new Recorder()
    dial(server, recorder)
    const peer = await server.connection()
    peer.end('last words')
    await recorder.until('lost')
    await turns()
    expect(recorder.all).toEqual(['opened', 'received last words', 'lost', 'the server closed the connection'])
  })

  test('dial reports all bytes in their order when reads become larger', async () => {
    await using server = await TcpServer.listen()
    const sent = Uint8Array.from({ length: 300_000 }, (_, index) => index % 251)
    const received: Uint8Array[] = []
    let count = 0
    const handler = new Recorder()
    handler.received = (bytes) => {
      received.push(bytes.slice())
      count += bytes.byteLength
    }
    const connection = dial(server, handler)
    const peer = await server.connection()
    // One read returns exactly as many bytes as the first buffer has.
    for (const end of [10, 10 + 4 * 1024, sent.byteLength]) {
      peer.write(sent.subarray(count, end))
      while (count < end) await new Promise((resolve) => setImmediate(resolve))
    }
    expect(Buffer.concat(received).equals(sent)).toBe(true)
    connection.close()
  })

  test('dial reports an RST (W23)', async () => {
    await using server = await TcpServer.listen()
    const recorder = new Recorder()
    dial(server, recorder)
    const peer = await server.connection()
    await recorder.until('opened')
    peer.resetAndDestroy()
    await recorder.until('lost')
    await turns()
    expect(recorder.all).toEqual(['opened', 'lost', expect.stringMatching(/^the server reset .*\(ECONNRESET\)$/)])
  })

  test('dial does not guess why a server that has answered resets the connection', async () => {
    await using server = await TcpServer.listen()
    const recorder = new Recorder()
    dial(server, recorder)
    const peer = await server.connection()
    peer.write('an answer')
    await recorder.until('received an answer')
    peer.resetAndDestroy()
    await recorder.until('lost')
    expect(recorder.all.at(-1)).toBe('read ECONNRESET')
  })

  test('RuntimeConnection.close ends the connection, and the handler receives nothing more', async () => {
    await using server = await TcpServer.listen()
    const recorder = new Recorder()
    const connection = dial(server, recorder)
    const peer = await server.connection()
    await recorder.until('opened')
    peer.write('too late')
    connection.close()
    peer.resume()
    await new Promise((resolve) => peer.once('close', resolve))
    await turns()
    expect(recorder.all).toEqual(['opened'])
  })

  test('RuntimeConnection.close before the connection stands leaves nothing behind', async () => {
    await using server = await TcpServer.listen()
    const recorder = new Recorder()
    dial(server, recorder).close()
    await turns()
    expect(recorder.all).toEqual([])
  })

  test('RuntimeConnection.write returns false when the peer does not read, and drained comes when it does (W22)', async () => {
    await using server = await TcpServer.listen()
    const recorder = new Recorder()
    const connection = dial(server, recorder)
    const peer = await server.connection()
    await recorder.until('opened')
    const chunk = new Uint8Array(64 * 1024)
    let written = 0
    do written += chunk.byteLength
    while (connection.write(chunk.fill(written / chunk.byteLength)) && written < 64 * 1024 * 1024)
    // What the kernel takes, and 256 KiB.
    expect(written).toBeLessThan(64 * 1024 * 1024)
    expect(recorder.all).toEqual(['opened'])

    let read = 0
    peer.on('data', (bytes: Uint8Array) => (read += bytes.byteLength))
    peer.resume()
    await recorder.until('drained')
    expect(connection.write(Uint8Array.of(1))).toBe(true)
    while (read < written + 1) await once(peer, 'data')
    expect(read).toBe(written + 1)
    connection.close()
  })

  test('dial looks the name up at every call (S19)', async () => {
    await using first = await TcpServer.listen({ host: '127.0.0.1' })
    await using second = await TcpServer.listen({ host: '127.0.0.2', port: first.port })
    const answers: (dns.LookupAddress[] | Error)[] = [
      new Error('getaddrinfo ENOTFOUND zk.example'),
      [{ address: '127.0.0.1', family: 4 }],
      [{ address: '127.0.0.2', family: 4 }],
    ]
    const lookup = mockLookup(() => answers.shift()!)
    const target = { host: 'zk.example', port: first.port }

    const unknown = new Recorder()
    dial(target, unknown)
    await unknown.until('lost')
    expect(unknown.all).toEqual(['lost', 'getaddrinfo ENOTFOUND zk.example'])
    for (const server of [first, second]) {
      const recorder = new Recorder()
      const connection = dial(target, recorder)
      const peer = await server.connection()
      expect(peer.localAddress).toBe(server.host)
      connection.close()
    }
    expect(lookup).toHaveBeenCalledTimes(3)
  })

  test('dial reaches the live one of several addresses (S19)', async () => {
    await using server = await TcpServer.listen()
    mockLookup(() => [
      { address: '127.0.0.9', family: 4 },
      { address: server.host, family: 4 },
    ])
    const recorder = new Recorder()
    const connection = dial({ host: 'zk.example', port: server.port }, recorder)
    await recorder.until('opened')
    connection.close()
  })
})

/** Answers of the resolver: lists, as `dns.lookup` gives them to `node:net`, or an error. */
function mockLookup(answer: () => dns.LookupAddress[] | Error) {
  type Callback = (error: Error | null, addresses: dns.LookupAddress[]) => void
  const lookup = (_host: string, _options: unknown, callback: Callback) => {
    const given = answer()
    process.nextTick(() => (given instanceof Error ? callback(given, []) : callback(null, given)))
  }
  return vi.spyOn(dns, 'lookup').mockImplementation(lookup as unknown as typeof dns.lookup)
}

describe('connect over TCP', () => {
  /** The frames that come in on a socket. */
  async function* framesOf(socket: Socket): AsyncGenerator<Uint8Array> {
    const decoder = new FrameDecoder()
    for await (const chunk of socket) {
      decoder.push(chunk as Uint8Array)
      for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) yield frame
    }
  }

  /** Answers every read, byte by byte, until the session is closed. */
  async function serve(server: TcpServer): Promise<string[]> {
    const socket = await server.connection()
    const names: string[] = []
    for await (const frame of framesOf(socket)) {
      if (names.push('connect') === 1) {
        const { timeOut } = decode(ConnectRequest, frame)
        await writeByteByByte(
          socket,
          handshakeFrame({ timeOut, sessionId: 5n, passwd: new Uint8Array(16), readOnly: false }),
        )
        continue
      }
      const { xid, name } = readRequest(frame)
      names.splice(-1, 1, name)
      if (name === 'getData')
        await writeByteByByte(socket, replyFrame({ xid }, GetDataResponse, nodeData(`reply ${xid}`)))
      else await writeByteByByte(socket, replyFrame({ xid }))
    }
    return names
  }

  test('connect, getData and close work with a server that answers byte by byte (W01)', async () => {
    await using server = await TcpServer.listen()
    const serving = serve(server)
    const zk = await connect(`${server.host}:${server.port}`)
    const reads = await Promise.all([zk.getData('/a'), zk.getData('/b')])
    expect(reads.map(({ data }) => new TextDecoder().decode(data))).toEqual(['reply 1', 'reply 2'])
    expect(zk.session).toMatchObject({ id: 5n, connection: { server: `127.0.0.1:${server.port}` } })
    await zk.close()
    expect(await serving).toEqual(['connect', 'getData', 'getData', 'closeSession'])
  })
})
