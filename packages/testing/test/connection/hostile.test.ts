import { concat, encode, int, OpCode, RequestHeader } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { Bench, node } from '../support/bench.ts'

const framed = (body: Uint8Array) => concat([encode(int, body.length), body])
const request = (xid: number, type: number, body = new Uint8Array()) =>
  framed(concat([encode(RequestHeader, { xid, type }), body]))
const length = (size: number) => encode(int, size)

describe('before the handshake', () => {
  test('a password that would be 2 GiB closes the connection without an answer', () => {
    const bench = new Bench()
    const client = bench.dial()!
    client.raw(framed(concat([new Uint8Array(24), length(0x7fff_ffff)])))
    expect(client.closed).toBe('end')
    expect(client.chunks).toEqual([])
    expect(bench.connect().connected!.timeOut).toBe(4_000)
  })

  test('a handshake with more bytes behind it is accepted', () => {
    const client = new Bench().dial()!
    client.raw(framed(new Uint8Array(28 + 16 + 1 + 7)))
    expect(client.connected!.timeOut).toBe(4_000)
  })
})

describe('in a session', () => {
  test.each([
    ['half a header', framed(new Uint8Array(7))],
    ['a sasl packet without a token', request(1, OpCode.sasl, length(-1))],
    ['a truncated sasl packet', request(1, OpCode.sasl, new Uint8Array(3))],
  ])('%s closes the connection without an answer; the session lives on', (_, bytes) => {
    const bench = new Bench()
    const client = bench.connect()
    client.raw(bytes)
    expect(client.closed).toBe('end')
    expect(client.replies).toEqual([])
    expect(bench.model.sessions.get(client.session)).toBeDefined()
  })

  test('requests behind a frame that closes the connection are ignored', () => {
    const bench = new Bench()
    const client = bench.connect()
    client.raw(concat([length(-5), request(1, OpCode.ping)]))
    expect(client.messages).toHaveLength(1)
    expect(client.closed).toBe('end')
    client.raw(request(1, OpCode.ping))
    expect(client.messages).toHaveLength(1)
  })
})

test('a flood of unanswered requests is read up to the limit, and further when they are answered', () => {
  const bench = new Bench({ members: 3, globalOutstandingLimit: 10 })
  const client = bench.connect({ member: bench.model.leader!.name })
  const followers = bench.model.members.filter(({ role }) => role === 'follower')
  for (const { name } of followers) bench.model.network.isolate(name)
  for (let at = 0; at < 50; at++) client.ask('create', node(`/a${at}`))
  expect(client.link.gate.isOpen).toBe(false)
  expect(client.replies).toEqual([])
  expect(bench.model.history.requests({ op: 'create' })).toHaveLength(11)
  bench.model.network.heal()
  bench.pass(500)
  expect(client.replies).toHaveLength(50)
  expect(client.link.gate.isOpen).toBe(true)
})

test('garbage of any kind never throws', () => {
  let state = 12_345
  const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
  const bench = new Bench()
  for (let round = 0; round < 300; round++) {
    const client = random() < 0.5 ? bench.dial()! : bench.connect()
    for (let frame = 0; frame < 5; frame++) {
      const body = Uint8Array.from({ length: Math.floor(random() * 60) }, () => Math.floor(random() * 256))
      const opCode = Math.floor(random() * 30)
      client.raw(random() < 0.3 ? body : request(frame + 1, opCode, body))
    }
    bench.pass(1)
  }
  expect(bench.connect().connected!.timeOut).toBe(4_000)
})
