import { once } from 'node:events'
import { connect as dial } from 'node:net'
import { connect, KeeperError, op } from '@zk/client'
import { encodeMessage } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { TestServer } from '../src/index.ts'
import { TcpClient } from './support/tcp-client.ts'

const text = (data: Uint8Array) => new TextDecoder().decode(data)

const handshake = encodeMessage({
  type: 'connect',
  request: { protocolVersion: 0, lastZxidSeen: 0n, timeOut: 4_000, sessionId: 0n, passwd: null, readOnly: false },
})

describe('a server', () => {
  test('serves a client', async () => {
    await using server = await TestServer.start()
    const zk = await connect(server.connectString, { sessionTimeout: 10_000 })
    expect(zk.session.timeout).toBe(10_000)
    await zk.create('/a', { data: 'one' } as never).catch(() => {})
    await zk.create('/b', 'one')
    const { data, changed } = await zk.getDataAndWatch('/b')
    expect(text(data)).toBe('one')
    await zk.multi([op.check('/b', { version: 0 }), op.setData('/b', 'two')])
    expect(await changed).toMatchObject({ type: 'NodeDataChanged', path: '/b' })
    await zk.create('/b/n-', '', { mode: 'EPHEMERAL_SEQUENTIAL' })
    expect((await zk.getChildren('/b')).children).toEqual(['n-0000000000'])
    await zk.close()
    expect(server.nodes.get('/b')).toMatchObject({ data: new TextEncoder().encode('two'), children: [] })
  })

  test('is there in milliseconds', async () => {
    // The first ones pay for what the engine has to compile, and a busy machine may pause any of them.
    const times: number[] = []
    while (times.length < 20 && !times.some((time) => time < 50)) {
      const began = performance.now()
      await using server = await TestServer.start()
      using client = new TcpClient(server.connectString)
      client.write('ruok')
      await client.closed
      expect(client.text).toBe('imok')
      times.push(performance.now() - began)
    }
    expect(Math.min(...times)).toBeLessThan(50)
  })

  test('answers a word to a client that closes its end at once, as nc does', async () => {
    await using server = await TestServer.start()
    using client = new TcpClient(server.connectString)
    client.socket.end('ruok')
    expect(await client.closed).toBe('end')
    expect(client.text).toBe('imok')
  })

  test('keeps its port when it is killed, refuses meanwhile, and has its nodes again', async () => {
    await using server = await TestServer.start()
    const zk = await connect(server.connectString)
    await zk.create('/kept')
    const session = zk.session.id
    const { port } = server
    expect(server.connectString).toBe(`127.0.0.1:${port}`)
    server.kill()
    expect(server.port).toBe(port)
    using refused = new TcpClient(server.connectString)
    expect(await refused.closed).toBe('ECONNREFUSED')
    server.restart()
    expect(await zk.exists('/kept')).toBeDefined()
    expect(zk.session.id).toBe(session)
    await zk.close()
  })

  test('refuses connections, and keeps those it has', async () => {
    await using server = await TestServer.start()
    const zk = await connect(server.connectString)
    server.members[0]!.refuse()
    using refused = new TcpClient(server.connectString)
    expect(await refused.closed).toBe('ECONNREFUSED')
    await zk.create('/a')
    server.members[0]!.accept()
    const other = await connect(server.connectString)
    await other.delete('/a')
    await zk.close()
    await other.close()
  })

  test('gives its port back when it is closed, with all connections cut', async () => {
    const server = await TestServer.start()
    using client = new TcpClient(server.connectString)
    client.write(handshake)
    await client.received(41)
    await server.close()
    expect(await client.closed).toMatch(/end|ECONNRESET/)
    const { port } = server
    await using next = await TestServer.start({ port })
    expect(next.connectString).toBe(server.connectString)
    await expect(TestServer.start({ port })).rejects.toThrow(/EADDRINUSE/)
    await server.close()
  })

  test('takes no options that make no sense', async () => {
    await expect(TestServer.start({ members: 2 } as object)).rejects.toThrow(TypeError)
    await expect(TestServer.start({ tickTime: 0 })).rejects.toThrow(RangeError)
    await expect(TestServer.start({ port: 70_000 })).rejects.toThrow(/port must be an integer/)
    await expect(TestServer.start({ sequences: 1 } as object)).rejects.toThrow(/unknown option sequences/)
  })
})

describe('over TCP', () => {
  test('end closes, reset resets', async () => {
    await using server = await TestServer.start()
    using one = new TcpClient(server.connectString)
    one.write(handshake)
    await one.received(41)
    server.members[0]!.connections[0]!.end()
    expect(await one.closed).toBe('end')
    using other = new TcpClient(server.connectString)
    other.write(handshake)
    await other.received(41)
    server.members[0]!.connections[0]!.reset()
    expect(await other.closed).toBe('ECONNRESET')
  })

  test('a frozen connection is read no further: the client can write until its buffers are full', async () => {
    await using server = await TestServer.start()
    const socket = dial(server.port, '127.0.0.1')
    socket.write(handshake)
    await once(socket, 'data')
    server.members[0]!.connections[0]!.freeze()
    const exists = encodeMessage({ type: 'request', op: 'ping', opCode: 11, xid: -2, request: undefined })
    const flood = new Uint8Array(exists.length * 100_000)
    for (let at = 0; at < flood.length; at += exists.length) flood.set(exists, at)
    let sent = 0
    // 12 MB: more than the kernel keeps for one connection.
    while (socket.write(flood) || (sent += flood.length) < 12_000_000);
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(socket.writableLength).toBeGreaterThan(0)
    expect(server.history.requests({ op: 'ping' })).toEqual([])
    socket.destroy()
  })

  test('a client that does not read is read no further', async () => {
    await using server = await TestServer.start()
    server.nodes.create('/large', { data: new Uint8Array(900_000) })
    const socket = dial(server.port, '127.0.0.1')
    socket.write(handshake)
    await once(socket, 'data')
    socket.pause()
    const asked = 100
    for (let xid = 1; xid <= asked; xid++) {
      const request = { path: '/large', watch: false }
      socket.write(encodeMessage({ type: 'request', op: 'getData', opCode: 4, xid, request }))
      if (xid % 20 === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    }
    expect(server.history.requests({ op: 'getData' }).length).toBeLessThan(asked / 2)
    let size = 0
    socket.on('data', (chunk) => (size += chunk.length))
    socket.resume()
    await expect.poll(() => size, { timeout: 10_000 }).toBeGreaterThan(asked * 900_000)
    socket.destroy()
  })

  test('a long request closes the connection, and the next one is served', async () => {
    await using server = await TestServer.start()
    const zk = await connect(server.connectString, { advanced: { maxRequestSize: 2_000_000 } })
    await zk.create('/a')
    const error = await zk.setData('/a', new Uint8Array(1_100_000)).catch((error: unknown) => error)
    expect(KeeperError.is(error, 'ConnectionLoss')).toBe(true)
    await zk.setData('/a', 'short')
    await zk.close()
  })
})
