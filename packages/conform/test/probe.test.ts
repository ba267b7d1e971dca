import { describe, expect, test } from 'vitest'
import type { ConnectionHandler, Runtime } from '@zk/client'
import { encodeMessage } from '@zk/wire'
import { probe } from '@zk/conform/internal'

const server = { host: 'db', port: 2181 }
const utf8 = new TextEncoder()

/** A network on which `act` decides what the server does. Time passes only in `elapse`. */
function network(act: (handler: ConnectionHandler) => void): Runtime & { readonly elapse: () => void } {
  let timer = (): void => {}
  return {
    now: () => 0,
    wallNow: () => 0,
    random: () => 0,
    uuid: () => '',
    setTimer: (_delay, callback) => {
      timer = callback
      return () => (timer = () => {})
    },
    dial: (_target, handler) => {
      queueMicrotask(() => act(handler))
      return { write: () => true, close: () => {} }
    },
    elapse: () => timer(),
  }
}

const answering = (bytes: Uint8Array) =>
  network((handler) => {
    handler.opened()
    handler.received(bytes)
  })

describe('probe', () => {
  test('a ZooKeeper server grants a session timeout', async () => {
    const response = { protocolVersion: 0, timeOut: 4_000, sessionId: 1n, passwd: new Uint8Array(16), readOnly: false }
    expect(await probe(server, answering(encodeMessage({ type: 'connected', response })))).toEqual({ timeOut: 4_000 })
  })

  test.each([
    ['HTTP', utf8.encode('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['TLS', Uint8Array.of(0x15, 3, 3, 0, 2, 2, 10)],
    ['SSH', utf8.encode('SSH-2.0-OpenSSH_9.2\r\n')],
  ])('%s is named', async (protocol, bytes) => {
    expect(await probe(server, answering(bytes))).toEqual({
      problem: `db:2181 is not a ZooKeeper server: it answers ${protocol}`,
    })
  })

  test('garbage cannot be read', async () => {
    const { problem } = (await probe(server, answering(utf8.encode('what do you want?')))) as { problem: string }
    expect(problem).toMatch(/^db:2181 is not a ZooKeeper server: its answer cannot be read \(.+\)$/)
  })

  test('a closed port', async () => {
    const runtime = network((handler) => handler.lost(new Error('connect ECONNREFUSED')))
    expect(await probe(server, runtime)).toEqual({
      problem: 'nothing accepts connections at db:2181: connect ECONNREFUSED',
    })
  })

  test('a server that closes the connection', async () => {
    const runtime = network((handler) => {
      handler.opened()
      handler.lost(new Error('closed'))
    })
    const { problem } = (await probe(server, runtime)) as { problem: string }
    expect(problem).toContain('it may be starting, or have no quorum')
  })

  test.each([
    ['silence', new Uint8Array(), ''],
    ['a frame without an end', Uint8Array.of(0, 0, 0, 37, 0), ' (it has sent 5 bytes of a frame without an end)'],
  ])('%s', async (_what, bytes, remark) => {
    const runtime = answering(bytes)
    const found = probe(server, runtime)
    await Promise.resolve()
    runtime.elapse()
    expect(await found).toEqual({
      problem: `db:2181 accepts connections, but did not answer a handshake within 10 s${remark}`,
    })
  })

  test('a firewall that drops everything', async () => {
    const runtime = network(() => {})
    const found = probe(server, runtime)
    runtime.elapse()
    expect(await found).toEqual({ problem: 'db:2181 did not accept a connection within 10 s' })
  })
})
