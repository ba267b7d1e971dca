// A connection whose TLS options come from a function: whatever it does, and whenever.
import { describe, expect, test } from 'vitest'
import type { RuntimeConnection, TlsOptions } from '../src/index.ts'
import { dialTls } from '../src/session/driver/tls-dialer.ts'
import { systemRuntime } from '../src/runtime/system-runtime.ts'

const target = { host: 'zk1', port: 2281 }

function dialing() {
  let resolve: (options: TlsOptions) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const given = new Promise<TlsOptions>((...settle) => ([resolve, reject] = settle))
  const dialed: unknown[] = []
  const closed: unknown[] = []
  const events: unknown[] = []
  const connection: RuntimeConnection = { write: () => true, close: () => void closed.push(target) }
  const runtime = {
    ...systemRuntime,
    dial: (to: unknown) => {
      dialed.push(to)
      return connection
    },
  }
  const handler = {
    opened: () => void events.push('opened'),
    received: () => void events.push('received'),
    drained: () => void events.push('drained'),
    lost: (error: Error) => void events.push(error.message),
  }
  const made = dialTls(runtime, () => given, target, handler)
  const settled = () => new Promise((done) => void setImmediate(done))
  return { made, resolve, reject, dialed, closed, events, settled }
}

describe('dialTls a function for TLS options', () => {
  test('dials when the options are there, and closes that connection', async () => {
    const { made, resolve, dialed, closed, settled } = dialing()
    expect([dialed, made.write(new Uint8Array(1))]).toEqual([[], false])
    resolve({ servername: 'zk1' })
    await settled()
    expect(dialed).toEqual([{ ...target, tls: { servername: 'zk1' } }])
    expect(made.write(new Uint8Array(1))).toBe(true)
    made.close()
    expect(closed).toHaveLength(1)
  })

  test('dials nothing when the options come after it was closed', async () => {
    const { made, resolve, dialed, closed, events, settled } = dialing()
    made.close()
    resolve({})
    await settled()
    expect([dialed, closed, events]).toEqual([[], [], []])
  })

  test('reports the failure of the function, unless it was closed before', async () => {
    const failing = dialing()
    failing.reject(new Error('no certificate'))
    await failing.settled()
    expect(failing.events).toEqual(['the tls function of connect failed: no certificate'])
    const closed = dialing()
    closed.made.close()
    closed.reject(new Error('no certificate'))
    await closed.settled()
    expect([closed.events, closed.dialed]).toEqual([[], []])
  })
})
