import { ErrorCode, OpCode, Reader, SetDataRequest, Writer } from '@zk/wire'
import { expect, test } from 'vitest'
import { ErrorReply } from '../src/operations/error-reply.ts'
import { Segment } from '../src/session/requests/segment.ts'
import { bodiesIn, requestsIn } from './support/machine-frames.ts'
import { frameOf, made, own, read, watcher, write } from './support/made-requests.ts'

test('Request.send is one frame: the header with the xid, then the body', () => {
  expect(requestsIn(frameOf(read('/a'), 7))).toMatchObject([
    { xid: 7, opCode: OpCode.getData, body: { path: '/a', watch: false } },
  ])
})

test('Request.send carries the xid of the latest call, whatever came before', () => {
  const request = read('/a')
  for (const xid of [1, 2 ** 31 - 2, -8, 1]) expect(requestsIn(frameOf(request, xid))[0]!.xid).toBe(xid)
})

test('Request.size is that of the frame without its length', () => {
  const request = read('/abc')
  expect(request.size).toBe(bodiesIn(frameOf(request, 1))[0]!.byteLength)
  expect(request.size).toBe(4 + 4 + (4 + 4) + 1)
})

test('Request without a body is a header', () => {
  const close = made({ op: 'close', opCode: OpCode.closeSession })
  expect(close.size).toBe(8)
  expect(requestsIn(frameOf(close, 3))).toMatchObject([{ xid: 3, name: 'closeSession' }])
})

test('Request writes its body when it is made: what the caller changes later does not matter', () => {
  const data = Uint8Array.of(1, 2, 3)
  const request = write('/a', { body: (writer) => SetDataRequest.write(writer, { path: '/a', data, version: 4 }) })
  data.fill(0)
  expect(requestsIn(frameOf(request, 1))[0]!.body).toEqual({ path: '/a', data: Uint8Array.of(1, 2, 3), version: 4 })
})

test('Request throws what its body throws, and writes nothing', () => {
  const body = () => {
    throw new TypeError('no such thing')
  }
  expect(() => read('/a', { body })).toThrow('no such thing')
})

test('Request begins unsent, never expires, has no answers, and settles no call', () => {
  const request = made({ op: 'close', opCode: OpCode.closeSession })
  expect(request).toMatchObject({ phase: 'unsent', expiresAt: Infinity })
  expect([request.answerFor(ErrorCode.NoNode), request.path]).toEqual([undefined, undefined])
  expect(request.effect).toEqual({ type: 'none' })
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
    effect: { type: 'watch', watcher: watcher('/a', 'exist') },
    resolve: () => {},
    reject: () => {},
  } as const
  const request = made({ ...notified, result: () => 'result', answers: { NoNode: () => 'none' } })
  expect(request).toMatchObject(notified)
  expect(request.result(new Reader(new Uint8Array(0)))).toBe('result')
  expect(request.answerFor(ErrorCode.NoNode)!()).toBe('none')
})

test('Request keeps an xid with a meaning of its own', () => {
  expect(own().fixedXid).toBe(-8)
  expect(requestsIn(frameOf(own(), -8))[0]!.xid).toBe(-8)
})

test('Refusal carries the code, and for a multi the code of each operation', () => {
  expect(new ErrorReply(ErrorCode.NoNode)).toMatchObject({ code: -101, multi: undefined })
  const multi = { index: 1, path: '/a', results: ['Ok' as const, 'NoNode' as const] }
  expect(new ErrorReply(ErrorCode.NoNode, multi).multi).toEqual(multi)
})

test('Request.send again, after unsend, does not write to the memory of the first frame', () => {
  const request = read('/a')
  const first = frameOf(request, 1)
  request.unsend()
  request.askForWatch(true)
  expect(requestsIn(frameOf(request, 2))).toMatchObject([{ xid: 2, body: { path: '/a', watch: true } }])
  expect(requestsIn(first)).toMatchObject([{ xid: 1, body: { path: '/a', watch: false } }])
})

test('Requests of one writer are one piece of a segment, whatever their order of sending', () => {
  const writer = new Writer()
  const [one, two, three] = ['/1', '/2', '/3'].map((path) => read(path, {}, writer))
  const segment = new Segment()
  for (const [index, request] of [one!, two!, three!].entries()) request.send(index + 1, 0, segment)
  expect(segment.bytes()!.buffer).toBe(writer.memory.buffer)
  expect(requestsIn(segment.bytes()).map(({ xid }) => xid)).toEqual([1, 2, 3])
  const mixed = new Segment()
  for (const [index, request] of [three!, one!, two!].entries()) request.send(index + 4, 0, mixed)
  expect([mixed.frames, mixed.size]).toEqual([3, one!.frameSize * 3])
  expect(requestsIn(mixed.bytes())).toMatchObject(
    ['/3', '/1', '/2'].map((path, at) => ({ xid: at + 4, body: { path } })),
  )
})

test('Request whose body throws leaves nothing in the writer: the next one is right behind the last', () => {
  const writer = new Writer()
  const before = read('/1', {}, writer)
  const body = (into: Writer) => {
    into.ustring('/half')
    throw new TypeError('no such thing')
  }
  expect(() => read('/2', { body }, writer)).toThrow('no such thing')
  const behind = read('/3', {}, writer)
  const segment = new Segment()
  before.send(1, 0, segment)
  behind.send(2, 0, segment)
  expect(segment.bytes()!.buffer).toBe(writer.memory.buffer)
  expect(requestsIn(segment.bytes())).toMatchObject([{ body: { path: '/1' } }, { body: { path: '/3' } }])
})

test('Requests keep their frames when the writer has to find larger memory', () => {
  const writer = new Writer(64)
  const requests = Array.from({ length: 200 }, (_, index) => read(`/${index}`, {}, writer))
  const segment = new Segment()
  for (const [index, request] of requests.entries()) request.send(index + 1, 0, segment)
  expect(requestsIn(segment.bytes())).toMatchObject(
    requests.map(({ path }, index) => ({ xid: index + 1, body: { path } })),
  )
})
