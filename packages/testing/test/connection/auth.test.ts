import { ErrorCode, OpCode } from '@zk/wire'
import { expect, test } from 'vitest'
import { Bench, node } from '../support/bench.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const CREATOR = [{ perms: 31, id: { scheme: 'auth', id: '' } }]

test('auth is answered at once with its own xid and zxid 0, and counts from then on', () => {
  const bench = new Bench()
  const owner = bench.connect()
  owner.ask('auth', { type: 0, scheme: 'digest', auth: bytes('ann:secret') }, -4)
  owner.ask('create', { ...node('/hers'), acl: CREATOR })
  expect(owner.replies).toMatchObject([
    { xid: -4, zxid: 0n, err: 0 },
    { xid: 1, err: 0 },
  ])
  const other = bench.connect()
  other.ask('getData', { path: '/hers', watch: false })
  expect(other.replies).toMatchObject([{ err: ErrorCode.NoAuth }])
  owner.ask('getData', { path: '/hers', watch: false })
  expect(owner.replies.at(-1)).toMatchObject({ err: 0 })
})

test.each([
  ['the scheme is unknown', 'kerberos', bytes('x')],
  ['it is a scheme without a proof', 'world', bytes('anyone')],
  ['there is no scheme', null, bytes('x')],
  ['there is nothing to prove it with', 'digest', null],
])('auth where %s is refused, and the connection closed', (_, scheme, auth) => {
  const bench = new Bench()
  const client = bench.connect()
  client.ask('auth', { type: 0, scheme, auth }, -4)
  expect(client.replies).toMatchObject([{ xid: -4, zxid: 0n, err: ErrorCode.AuthFailed }])
  expect(client.closed).toBe('end')
  expect(bench.model.sessions.get(client.session)).toBeDefined()
})

test('superDigest names the user with all permissions', () => {
  // super:admin
  const bench = new Bench({ members: 1, superDigest: 'super:xQJmxLMiHGwaqBvst5y6rkB6HQs=' })
  bench.model.nodes.create('/closed', { acl: [{ perms: 31, id: { scheme: 'digest', id: 'no:body' } }] })
  const client = bench.connect()
  client.ask('getData', { path: '/closed', watch: false })
  client.ask('auth', { type: 0, scheme: 'digest', auth: bytes('super:admin') }, -4)
  client.ask('getData', { path: '/closed', watch: false })
  expect(client.replies.map(({ err }) => err)).toEqual([ErrorCode.NoAuth, 0, 0])
})

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
