import { ErrorCode, OpCode, SetDataRequest } from '@zk/wire'
import { expect, test } from 'vitest'
import { ErrorReply, Request } from '../src/session/requests/request.ts'
import { bodiesIn, requestsIn } from './frames.ts'
import { own, read, watcher, write } from './requests.ts'

test('Request.bytes is one frame: the header with the xid, then the body', () => {
  expect(requestsIn(read('/a').bytes(7))).toMatchObject([
    { xid: 7, opCode: OpCode.getData, body: { path: '/a', watch: false } },
  ])
})

test('Request.bytes carries the xid of the latest call, whatever came before', () => {
  const request = read('/a')
  for (const xid of [1, 2 ** 31 - 2, -8, 1]) expect(requestsIn(request.bytes(xid))[0]!.xid).toBe(xid)
})

test('Request.size is that of the frame without its length', () => {
  const request = read('/abc')
  expect(request.size).toBe(bodiesIn(request.bytes(1))[0]!.byteLength)
  expect(request.size).toBe(4 + 4 + (4 + 4) + 1)
})

test('Request without a body is a header', () => {
  const close = new Request({ op: 'close', opCode: OpCode.closeSession, kind: 'neither' })
  expect(close.size).toBe(8)
  expect(requestsIn(close.bytes(3))).toMatchObject([{ xid: 3, name: 'closeSession' }])
})

test('Request writes its body when it is made: what the caller changes later does not matter', () => {
  const data = Uint8Array.of(1, 2, 3)
  const request = write('/a', { body: (writer) => SetDataRequest.write(writer, { path: '/a', data, version: 4 }) })
  data.fill(0)
  expect(requestsIn(request.bytes(1))[0]!.body).toEqual({ path: '/a', data: Uint8Array.of(1, 2, 3), version: 4 })
})

test('Request throws what its body throws, and writes nothing', () => {
  const body = () => {
    throw new TypeError('no such thing')
  }
  expect(() => read('/a', { body })).toThrow('no such thing')
})

test('Request begins unsent, never expires, forgives nothing, and settles no call', () => {
  const request = new Request({ op: 'close', opCode: OpCode.closeSession, kind: 'neither' })
  expect(request).toMatchObject({ phase: { name: 'unsent' }, expiresAt: Infinity, forgives: {}, path: undefined })
  expect(request.watcher).toBeUndefined()
  expect(request.fixedXid).toBeUndefined()
  expect(request.resolve(1)).toBeUndefined()
  expect(request.reject(new Error('unheard'))).toBeUndefined()
})

test('Request keeps its outcome', () => {
  const notified = {
    op: 'exists',
    path: '/a',
    opCode: OpCode.exists,
    kind: 'read',
    expiresAt: 5,
    watcher: watcher('/a', 'exist'),
    result: () => 'result',
    forgives: { NoNode: () => 'none' },
    resolve: () => {},
    reject: () => {},
  } as const
  expect(new Request(notified)).toMatchObject(notified)
})

test('Request keeps an xid with a meaning of its own', () => {
  expect(own().fixedXid).toBe(-8)
  expect(requestsIn(own().bytes(-8))[0]!.xid).toBe(-8)
})

test('Refusal carries the code, and for a multi the code of each operation', () => {
  expect(new ErrorReply(ErrorCode.NoNode)).toMatchObject({ code: -101, multi: undefined })
  const multi = { index: 1, path: '/a', results: ['Ok' as const, 'NoNode' as const] }
  expect(new ErrorReply(ErrorCode.NoNode, multi).multi).toEqual(multi)
})
