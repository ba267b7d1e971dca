import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type ClientMessage,
  formatMessage,
  OpCode,
  type OperationName,
  operations,
  type ServerMessage,
  type Type,
} from '../src/index.ts'
import { valuesOf } from './arbitraries.ts'
import { stat as someStat } from './stat.ts'

const utf8 = new TextEncoder()
const passwd = utf8.encode('hunter22')
const acl = [{ perms: 31, id: { scheme: 'digest', id: 'ann:hunter22' } }]
const request = (op: OperationName, body?: object, xid = 3) =>
  ({ type: 'request', op, opCode: operations[op].opCode, xid, request: body }) as ClientMessage
const reply = (op: OperationName, body?: object, err = 0) =>
  ({ type: 'reply', op, opCode: operations[op].opCode, xid: 3, zxid: 5n, err, response: body }) as ServerMessage
const data = utf8.encode('hello')
const stat = { ...someStat, version: 7 }

describe('formatMessage', () => {
  test.each<[ClientMessage | ServerMessage, string]>([
    [
      {
        type: 'connect',
        request: { protocolVersion: 0, lastZxidSeen: 9n, timeOut: 12_000, sessionId: -1n, passwd, readOnly: true },
      },
      'connect 0xffffffffffffffff  timeout 12000  zxid 0x9  read-only',
    ],
    [
      { type: 'connected', response: { protocolVersion: 0, timeOut: 4_000, sessionId: 1n, passwd, readOnly: false } },
      'connected 0x1  timeout 4000',
    ],
    [
      { type: 'connected', response: { protocolVersion: 0, timeOut: 0, sessionId: 0n, passwd, readOnly: undefined } },
      'expired',
    ],
    [request('create', { path: '/a', data, acl, flags: 3 }), 'create /a  xid 3  5 bytes  EPHEMERAL_SEQUENTIAL'],
    [request('create2', { path: '/a', data: null, acl, flags: 99 }), 'create2 /a  xid 3  no data  flags 99'],
    [
      request('createTTL', { path: '/a', data, acl, flags: 5, ttl: 60n }),
      'createTTL /a  xid 3  5 bytes  PERSISTENT_WITH_TTL  ttl 60',
    ],
    [request('setData', { path: '/a', data, version: 2 }), 'setData /a  xid 3  5 bytes  version 2'],
    [request('delete', { path: null, version: -1 }), 'delete null  xid 3'],
    [request('getData', { path: '/a', watch: true }), 'getData /a  xid 3  watch'],
    [request('ping', undefined, -2), 'ping  xid -2'],
    [request('auth', { type: 0, scheme: 'digest', auth: passwd }, -4), 'auth  xid -4  digest'],
    [request('sasl', { token: passwd }), 'sasl  xid 3'],
    [request('setACL', { path: '/a', acl, version: -1 }), 'setACL /a  xid 3'],
    [request('addWatch', { path: '/a', mode: 1 }), 'addWatch /a  xid 3  PERSISTENT_RECURSIVE'],
    [request('removeWatches', { path: '/a', type: 2 }), 'removeWatches /a  xid 3  Data'],
    [request('getEphemerals', { prefixPath: '/a' }), 'getEphemerals /a  xid 3'],
    [
      request('reconfig', { joiningServers: 'server.4=zk4', leavingServers: '1', newMembers: null, curConfigId: -1n }),
      'reconfig  xid 3  joining server.4=zk4  leaving 1',
    ],
    [
      request('setWatches', {
        relativeZxid: 16n,
        dataWatches: ['/a', '/b'],
        existWatches: ['/c'],
        childWatches: ['/d', '/e', '/f'],
      }),
      'setWatches /a /b /c /d and 2 more  xid 3  zxid 0x10',
    ],
    [
      request('multi', [
        { type: OpCode.check, request: { path: '/a', version: 4 } },
        { type: OpCode.create, request: { path: '/b', data, acl, flags: 0 } },
      ]),
      'multi (check /a version 4, create /b 5 bytes)  xid 3',
    ],
    [
      { type: 'request', op: undefined, opCode: 999, xid: 3, request: undefined, rest: passwd },
      'opcode 999  xid 3  8 bytes unread',
    ],
    [reply('create2', { path: '/a-0000000007', stat }), 'create2: Ok  xid 3  zxid 0x5  /a-0000000007  version 7'],
    [reply('getData', { data, stat }), 'getData: Ok  xid 3  zxid 0x5  5 bytes  version 7'],
    [reply('getChildren2', { children: ['x'], stat }), 'getChildren2: Ok  xid 3  zxid 0x5  1 child  version 7'],
    [reply('getAllChildrenNumber', { totalNumber: 12 }), 'getAllChildrenNumber: Ok  xid 3  zxid 0x5  12 nodes'],
    [reply('getACL', { acl, stat }), 'getACL: Ok  xid 3  zxid 0x5  version 7'],
    [reply('sasl', { token: passwd }), 'sasl: Ok  xid 3  zxid 0x5'],
    [reply('whoAmI', { clientInfo: [{ authScheme: 'digest', user: 'ann' }] }), 'whoAmI: Ok  xid 3  zxid 0x5'],
    [reply('setData', undefined, -103), 'setData: BadVersion  xid 3  zxid 0x5'],
    [reply('setData', undefined, -999), 'setData: error -999  xid 3  zxid 0x5'],
    [
      reply('multi', [
        { type: OpCode.error, response: { err: -2 } },
        { type: OpCode.check, response: {} },
      ]),
      'multi: Ok  xid 3  zxid 0x5  (RuntimeInconsistency, Ok)',
    ],
    [
      { type: 'reply', op: undefined, opCode: undefined, xid: 0, zxid: 0n, err: -119, response: undefined },
      'handshake: NotReadOnly  xid 0  zxid 0x0',
    ],
    [{ type: 'event', zxid: -1n, err: 0, event: { type: 3, state: 3, path: '/a' } }, 'NodeDataChanged /a'],
    [{ type: 'event', zxid: -1n, err: 0, event: { type: 99, state: 3, path: null } }, 'event 99 null'],
    [{ type: 'text', bytes: utf8.encode('ruok') }, 'text "ruok" (4 bytes)'],
  ])('formatMessage shows %#: %o', (message, shown) => {
    expect(formatMessage(message)).toBe(shown)
  })

  test.each([
    ['hello', 100, '"hello" (5 bytes)'],
    ['hello', 3, '"hel"… (5 bytes)'],
    ['häßlich', 2, '"h"… (9 bytes)'],
    ['', 10, '0 bytes'],
    ['a\n\u001b[31m"\u202e', 100, String.raw`"a\n\u001b[31m\"\u202e" (11 bytes)`],
  ])('formatMessage shows data only if it is asked for: %o, %i', (text, shown, expected) => {
    const message = request('setData', { path: '/a', data: utf8.encode(text), version: -1 })
    expect(formatMessage(message, { data: shown })).toBe(`setData /a  xid 3  ${expected}`)
    expect(formatMessage(message)).toMatch(/^setData \/a {2}xid 3 {2}\d+ bytes$/)
  })

  test('formatMessage shows data that is not UTF-8 as hexadecimal digits', () => {
    const message = reply('getData', { data: new Uint8Array([0xff, 0x00, 0x10]), stat })
    expect(formatMessage(message, { data: 2 })).toContain('  0xff00… (3 bytes)')
  })

  test('formatMessage escapes control characters of a path, and cuts a long one', () => {
    expect(formatMessage(request('exists', { path: '/a\n\u001b[2J', watch: false }))).toBe(
      String.raw`exists /a\u000a\u001b[2J  xid 3`,
    )
    expect(formatMessage(request('exists', { path: `/${'x'.repeat(10_000)}`, watch: false })).length).toBeLessThan(250)
  })

  const names = Object.keys(operations) as OperationName[]
  test.each(names)('formatMessage of %s is one short line for any values, without a secret', (op) => {
    const { request: asked, response: answered } = operations[op] as Record<
      'request' | 'response',
      Type<unknown> | undefined
    >
    const bodies = fc.record({
      body: asked === undefined ? fc.constant(undefined) : valuesOf(asked),
      answer: answered === undefined ? fc.constant(undefined) : valuesOf(answered),
      data: fc.constantFrom(0, 16),
    })
    fc.assert(
      fc.property(bodies, ({ body, answer, data }) => {
        for (const message of [request(op, body as object), reply(op, answer as object)]) {
          const text = formatMessage(message, { data })
          // oxlint-disable-next-line no-control-regex -- that is what must not be there
          expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/)
          expect(text.length).toBeLessThan(5_000)
          expect(text).not.toMatch(/hunter|undefined|\[object/)
        }
      }),
      { numRuns: 50 },
    )
  })
})
