// A closed ensemble leaves nothing behind.
import { once } from 'node:events'
import { connect as dial, createServer, type Socket } from 'node:net'
import { encodeMessage } from '@zk/wire'
import { expect, test, vi } from 'vitest'
import { TestEnsemble, TestServer } from '../src/index.ts'
import { TcpClient } from './support/tcp-client.ts'

const handshake = encodeMessage({
  type: 'connect',
  request: {
    protocolVersion: 0,
    lastZxidSeen: 0n,
    timeOut: 4_000,
    sessionId: 0n,
    passwd: new Uint8Array(16),
    readOnly: false,
  },
})

/** The result of a connection attempt to this port. */
async function reach(port: number): Promise<string> {
  const socket = dial(port, '127.0.0.1')
  const result = await once(socket, 'connect').then(
    () => 'connected',
    (error: unknown) => (error as NodeJS.ErrnoException).code!,
  )
  socket.destroy()
  return result
}

/** A client that does not read, and has requested more than the kernel's buffers hold. */
async function unreading(server: TestServer): Promise<Socket> {
  server.nodes.create('/large', { data: new Uint8Array(1_000_000) })
  const socket = dial(server.port, '127.0.0.1')
  // Its end does not matter here.
  socket.on('error', () => {})
  socket.write(handshake)
  await once(socket, 'data')
  socket.pause()
  for (let xid = 1; xid <= 20; xid++) {
    const request = { path: '/large', watch: false }
    socket.write(encodeMessage({ type: 'request', op: 'getData', opCode: 4, xid, request }))
  }
  await expect.poll(() => server.history.replies({ op: 'getData' }).length).toBeGreaterThan(2)
  return socket
}

test.each<[string, (server: TestServer) => void]>([
  ['was ended', (server) => server.members[0]!.connections[0]!.end()],
  ['was killed with its member', (server) => server.kill()],
])('close does not wait for a client that does not read, whose connection %s', async (_, end) => {
  const server = await TestServer.start()
  const socket = await unreading(server)
  end(server)
  expect(server.members[0]!.connections).toEqual([])
  await server.close()
  socket.destroy()
})

test('close right behind what opens a port leaves none open', async () => {
  const server = await TestServer.start()
  const { port } = server
  server.kill()
  server.restart()
  await server.close()
  expect(await reach(port)).toBe('ECONNREFUSED')
  const other = await TestServer.start({ port })
  other.members[0]!.refuse()
  other.members[0]!.accept()
  await other.close()
  expect(await reach(port)).toBe('ECONNREFUSED')
})

test('a member that is killed before it listens does not listen, and listens when it is started again', async () => {
  await using server = await TestServer.start()
  const { port } = server
  server.kill()
  expect(await reach(port)).toBe('ECONNREFUSED')
  server.restart()
  server.kill()
  await expect.poll(async () => reach(port)).toBe('ECONNREFUSED')
  server.restart()
  server.kill()
  server.restart()
  await expect.poll(async () => reach(port)).toBe('connected')
  using client = new TcpClient(server.connectString)
  client.write(handshake)
  await client.received(41)
})

test('a start that fails because a port is taken frees the other ports', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const { port } = taken.address() as { port: number }
  const before = await TestServer.start()
  const { port: free } = before
  await before.close()
  for (const ports of [
    [port, free, 0],
    [free, port, 0],
    [0, free, port],
  ]) {
    await expect(TestEnsemble.start({ ports })).rejects.toThrow(/EADDRINUSE/)
    expect(await reach(free)).toBe('ECONNREFUSED')
  }
  taken.close()
})

test('a member whose port was taken while it was down listens when the port is free, unless it was closed', async () => {
  const server = await TestServer.start()
  const { port } = server
  server.kill()
  expect(await reach(port)).toBe('ECONNREFUSED')
  const other = createServer().listen(port, '127.0.0.1')
  await once(other, 'listening')
  server.restart()
  await new Promise((resolve) => other.close(resolve))
  await expect.poll(async () => reach(port)).toBe('connected')
  await server.close()
  expect(await reach(port)).toBe('ECONNREFUSED')
})

test('waiters for serving members are notified of the close', async () => {
  const ensemble = await TestEnsemble.start()
  for (const member of ensemble.members) member.kill()
  const serving = ensemble.serving({ timeout: 60_000 }).catch((error: unknown) => error)
  await ensemble.close()
  expect(await serving).toEqual(new Error('the ensemble is closed'))
  await expect(ensemble.serving()).rejects.toThrow(/the ensemble is closed/)
})

test('a start that cannot complete rejects with the reason', async () => {
  await expect(TestEnsemble.start({ latency: () => Number.NaN })).rejects.toThrow(
    new RangeError('latency must return a number of ms, 0 or more, not NaN'),
  )
  await expect(TestEnsemble.start({ latency: 100_000 })).rejects.toThrow(/latency must be below 5000/)
  await expect(TestEnsemble.start({ tickTime: 1 })).rejects.toThrow(/tickTime must be an integer from 2/)
  await using ensemble = await TestEnsemble.start({ tickTime: 2, members: 5 })
  expect(ensemble.leader).toBeDefined()
})

test.each<[object | null, RegExp]>([
  [null, /an ensemble: the options must be an object/],
  [{ host: 5 }, /host must be a name or an address, such as '127.0.0.1', not 5/],
  [{ host: ' ' }, /host must be a name/],
  [{ ports: 'abc' }, /ports must be a list, not "abc"/],
  [{ ports: null }, /ports must be a list, not null/],
  [{ ports: ['1', 2, 3] }, /ports must be an integer from 0 to 65535, not "1"/],
  [{ prot: 1 }, /unknown option prot; known are members, .*, host, ports/],
  [{ electionTime: -5 }, /electionTime must be a number of ms/],
])('%j is refused', async (options, message) => {
  await expect(TestEnsemble.start(options as object)).rejects.toThrow(message)
})

test('an ensemble that is closed leaves no timer: the program ends at once', async () => {
  const set = vi.spyOn(globalThis, 'setTimeout')
  const clear = vi.spyOn(globalThis, 'clearTimeout')
  try {
    const ensemble = await TestEnsemble.start({ members: 3 })
    ensemble.leader!.kill()
    await ensemble.serving({ timeout: 30_000 })
    await ensemble.close()
    const cleared = new Set(clear.mock.calls.map(([timer]) => timer))
    const long = set.mock.results.filter((_, index) => (set.mock.calls[index]![1] ?? 0) >= 10_000)
    expect(long.length).toBeGreaterThan(0)
    expect(long.filter(({ value }) => !cleared.has(value))).toEqual([])
  } finally {
    set.mockRestore()
    clear.mockRestore()
  }
})

test('how long serving waits must be a time', async () => {
  await using server = await TestServer.start()
  await expect(server.serving({ timeout: Number.NaN })).rejects.toThrow(/timeout must be a number of ms/)
  await expect(TestServer.start(null as unknown as object)).rejects.toThrow(/a server: the options must be an object/)
})
