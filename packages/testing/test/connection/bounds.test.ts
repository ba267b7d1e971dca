// Limits of the memory that requests of clients can take.
import { OpCode } from '@zk/wire'
import { expect, test } from 'vitest'
import { TxnLog } from '../../src/ensemble/txn-log.ts'
import { Bench, node } from '../support/bench.ts'

const LARGE = 900_000
const MIB = 1024 * 1024

const getData = (xid: number) =>
  ({ type: 'request', op: 'getData', opCode: 4, xid, request: { path: '/large', watch: false } }) as const

test.each([1, 3])('large replies to one chunk of requests are made a few at a time, with %i members', (members) => {
  const bench = new Bench({ members })
  bench.model.nodes.create('/large', { data: new Uint8Array(LARGE) })
  const client = bench.connect({ member: bench.model.leader!.name })
  client.say(...Array.from({ length: 40 }, (_, index) => getData(index + 1)))
  client.link.gate.set('clogged', true)
  bench.pass(10)
  expect(client.replies.length).toBeLessThan(5)
  client.link.gate.set('clogged', false)
  client.raw(new Uint8Array())
  bench.pass(10)
  expect(client.replies.map(({ xid }) => xid)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
  expect(Math.max(...client.chunks.map(({ length }) => length))).toBeLessThan(4 * MIB)
})

test('the same with a write ahead of the reads', () => {
  const bench = new Bench()
  const client = bench.connect()
  client.say(
    { type: 'request', op: 'create', opCode: 1, xid: 1, request: { ...node('/large'), data: new Uint8Array(LARGE) } },
    ...Array.from({ length: 20 }, (_, index) => getData(index + 2)),
  )
  bench.pass(10)
  expect(client.replies).toHaveLength(21)
  expect(Math.max(...client.chunks.map(({ length }) => length))).toBeLessThan(4 * MIB)
})

test('the parts of a multi count in the history for more than their bytes', () => {
  const bench = new Bench({ members: 1, history: { bytes: MIB } })
  const client = bench.connect()
  const parts = Array.from({ length: 1_000 }, () => ({
    type: OpCode.check,
    request: { path: '/a', version: -1 },
  }))
  for (let xid = 1; xid <= 5; xid++) client.ask('multi', parts)
  bench.pass(10)
  expect(client.replies).toHaveLength(5)
  // 1,000 parts of 17 bytes, and their results of 13.
  expect(bench.model.history.length).toBeLessThan(5)
  expect(bench.model.history.dropped).toBeGreaterThan(0)
})

test('a log keeps a few hundred transactions, fewer if they are large, and always those still to be applied', () => {
  const log = new TxnLog()
  const write = (count: number, size: number) => {
    for (let done = 0; done < count; done++) {
      const header = { sessionId: 1n, cxid: 1, zxid: log.last + 1n, time: 0 }
      log.append({ header, txn: { type: 'setData', path: '/a', data: new Uint8Array(size), version: done } })
    }
  }
  const apply = (count: number) => {
    for (let done = 0; done < count; done++) log.advance()
  }
  write(1_000, 10)
  apply(1_000)
  expect(log.after(499n)).toBeUndefined()
  expect(log.after(500n)).toHaveLength(500)
  write(100, MIB)
  expect(log.unapplied()).toHaveLength(100)
  apply(100)
  expect(log.after(1_000n)).toBeUndefined()
  const kept = log.after(1_090n)!.length
  expect(kept).toBe(10)
  expect([log.applied, log.last]).toEqual([1_100n, 1_100n])
  write(1, 100 * MIB)
  apply(1)
  expect([log.after(1_100n)?.length, log.after(1_099n)]).toEqual([1, undefined])
})
