import { OpCode } from '@zk/wire'
import { expect, test } from 'vitest'
import { Bench, node } from '../support/bench.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

test('auth may use any xid, and overtakes waiting requests', () => {
  const bench = new Bench({ members: 3, latency: 5 })
  const client = bench.dial('zk1')!
  client.handshake()
  bench.pass(100)
  client.ask('create', node('/a'))
  client.say({
    type: 'request',
    op: 'auth',
    opCode: OpCode.auth,
    xid: -4,
    request: { type: 0, scheme: 'ip', auth: null },
  })
  expect(client.replies.map(({ xid }) => xid)).toEqual([-4])
  bench.pass(100)
  expect(client.replies.map(({ xid }) => xid)).toEqual([-4, 1])
})

test('sasl is answered with a null token if it is not configured', () => {
  const client = new Bench().connect()
  client.ask('sasl', { token: bytes('x') })
  expect(client.replies).toMatchObject([{ err: 0, zxid: 0n, response: { token: null } }])
})
