// What the compiler must say. At run time most of these tests do nothing: `tsc` checks them with the other tests.
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type * as client from '../src/index.ts'
import {
  ConnectError,
  type Created,
  formatACL,
  KeeperError,
  type KeeperErrorCode,
  type NodeData,
  op,
  parseACL,
  type Stat,
  ZkError,
  type ZooKeeper,
} from '../src/index.ts'
import type { ReadResult } from '../src/operations/multi-read.ts'

declare const zk: ZooKeeper

describe('ZooKeeper.multi', () => {
  test('ZooKeeper.multi gives a tuple: the result of each operation at its position', () => {
    const call = () =>
      zk.multi([op.create('/a'), op.check('/a', { version: 1 }), op.setData('/a', 'x'), op.delete('/a')])
    expectTypeOf(call).returns.resolves.toEqualTypeOf<readonly [{ readonly path: string }, void, Stat, void]>()
  })

  test('ZooKeeper.multi of a list gives a list', () => {
    const checks = ['/a', '/b'].map((path) => op.check(path))
    expectTypeOf(() => zk.multi(checks)).returns.resolves.toEqualTypeOf<void[]>()
  })

  test('ZooKeeper.multi takes what `op` makes, and nothing else', () => {
    // @ts-expect-error no operation
    const call = () => zk.multi([{ path: '/a' }])
    expectTypeOf(call).toBeFunction()
  })
})

describe('ZooKeeper.multiRead', () => {
  test('ZooKeeper.multiRead gives a tuple: the value or the error of each operation at its position', () => {
    const call = () => zk.multiRead([op.getData('/a'), op.getChildren('/a')])
    type Results = readonly [ReadResult<NodeData>, ReadResult<string[]>]
    expectTypeOf(call).returns.resolves.toEqualTypeOf<Results>()
    const read = {} as ReadResult<NodeData>
    if (read.error === undefined) expectTypeOf(read.value).toEqualTypeOf<NodeData>()
    else expectTypeOf(read.error).toEqualTypeOf<KeeperError>()
  })
})

describe('results', () => {
  test('longs are bigints; times of a Stat are numbers', () => {
    type Longs = 'czxid' | 'mzxid' | 'pzxid' | 'ephemeralOwner'
    expectTypeOf<Stat[Longs]>().toEqualTypeOf<bigint>()
    expectTypeOf<Stat[Exclude<keyof Stat, Longs>]>().toEqualTypeOf<number>()
    expectTypeOf<client.Session['id']>().toEqualTypeOf<bigint>()
  })

  test('data goes in as bytes or text, and comes out as bytes in memory of their own', () => {
    expectTypeOf<NodeData['data']>().toEqualTypeOf<Uint8Array<ArrayBuffer>>()
    expectTypeOf<client.Data>().toEqualTypeOf<Uint8Array | string>()
  })

  test('exists says undefined where there is no node', () => {
    expectTypeOf(() => zk.exists('/a')).returns.resolves.toEqualTypeOf<Stat | undefined>()
    expectTypeOf(() => zk.create('/a')).returns.resolves.toEqualTypeOf<Created>()
  })

  test('watch gives events that a switch over `type` can tell apart', () => {
    type Events = Awaited<ReturnType<ZooKeeper['watch']>>
    expectTypeOf<Events>().toExtend<AsyncIterable<client.PersistentWatchEvent> & AsyncDisposable>()
    type Gap = Extract<client.PersistentWatchEvent, { type: 'Gap' }>
    expectTypeOf<Gap['cause']>().toEqualTypeOf<'reconnected' | 'renewed' | 'overflow'>()
    expectTypeOf<client.PersistentWatchEvent['path']>().toEqualTypeOf<string>()
  })

  test('reads with a watch give what the read gives, and `changed`, which never rejects and tells what happened', () => {
    type Watched = Awaited<ReturnType<ZooKeeper['getDataAndWatch']>>
    expectTypeOf<Watched>().toExtend<NodeData>()
    expectTypeOf<Watched['changed']>().toEqualTypeOf<Promise<client.WatchedEvent>>()
    expectTypeOf<client.WatchedEvent['path']>().toEqualTypeOf<string>()
  })
})

describe('arguments', () => {
  test('what is for a multi is not for a multiRead, and the other way round', () => {
    // @ts-expect-error a read
    const multi = () => zk.multi([op.getData('/a')])
    // @ts-expect-error a write
    const multiRead = () => zk.multiRead([op.check('/a')])
    expectTypeOf([multi, multiRead]).toBeArray()
  })

  test('setData needs data', () => {
    // @ts-expect-error data is missing
    const call = () => zk.setData('/a')
    expectTypeOf(call).toBeFunction()
  })
})

test('parseACL gives what create takes, formatACL takes what getACL gives', () => {
  const create = () => zk.create('/a', '', { acl: parseACL('world:anyone:r') })
  expectTypeOf(create).returns.resolves.toEqualTypeOf<Created>()
  const format = async () => formatACL((await zk.getACL('/a')).acl)
  expectTypeOf(format).returns.resolves.toEqualTypeOf<string>()
})

test('KeeperError.is narrows the error, and its code to those asked for', () => {
  const error = new Error('whatever') as unknown
  if (KeeperError.is(error)) expectTypeOf(error.code).toEqualTypeOf<KeeperErrorCode>()
  if (KeeperError.is(error, 'NoNode', 'BadVersion')) expectTypeOf(error.code).toEqualTypeOf<'NoNode' | 'BadVersion'>()
  // A number may have any name.
  if (KeeperError.is(error, 'NoNode', -200)) expectTypeOf(error.code).toEqualTypeOf<KeeperErrorCode>()
})

test('ZkError.is narrows to the class on which it is called, and instanceof does, too', () => {
  class ImportError extends KeeperError {
    readonly line = 5
  }
  const error = new Error('whatever') as unknown
  if (ZkError.is(error)) expectTypeOf(error.code).toEqualTypeOf<string>()
  if (ConnectError.is(error)) expectTypeOf(error.code).toEqualTypeOf<'NoServerReached'>()
  if (ImportError.is(error, 'NoNode'))
    expectTypeOf([error.code, error.line] as const).toEqualTypeOf<readonly ['NoNode', 5]>()
  if (error instanceof KeeperError) expectTypeOf(error).toEqualTypeOf<KeeperError>()
  else if (error instanceof ZkError) expectTypeOf(error).toEqualTypeOf<ZkError>()
  // @ts-expect-error no code of a KeeperError
  expect(KeeperError.is(error, 'NoServerReached')).toBe(false)
})

test('bytes of the public types are Uint8Arrays, in and out', () => {
  expectTypeOf<client.AuthInfo['auth']>().toEqualTypeOf<Uint8Array | string>()
  expectTypeOf<client.ConnectionHandler['received']>().parameter(0).toEqualTypeOf<Uint8Array>()
  expectTypeOf<client.RuntimeConnection['write']>().parameter(0).toEqualTypeOf<Uint8Array>()
})

test('no declaration that is published says Buffer', () => {
  const dist = new URL('../dist/', import.meta.url)
  const declarations = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.d.ts'))
  expect(declarations, 'not built: run `pnpm build`').toContain('index.d.ts')
  const withoutComments = (text: string) => text.replaceAll(/\/\/.*|\/\*[^]*?\*\//g, '')
  const saying = declarations.filter((name) =>
    /\bBuffer\b/.test(withoutComments(readFileSync(new URL(name, dist), 'utf8'))),
  )
  expect(saying).toEqual([])
})
