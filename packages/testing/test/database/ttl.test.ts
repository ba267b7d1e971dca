import { CreateMode, ErrorCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import type { DataTree } from '../../src/database/index.ts'
import { removals } from '../../src/ensemble/containers.ts'
import { bytes, Client, creating, operator, picture, Server } from './support.ts'

const client = new Client(0x10n)
const { PERSISTENT_WITH_TTL } = CreateMode

const withTTL = (path: string, ttl: bigint, flags: number = PERSISTENT_WITH_TTL) =>
  client.request('createTTL', { ...creating(path, flags), ttl })

const extended = () => new Server({ extendedTypesEnabled: true })

/** What the leader would remove at this time. */
const due = ({ tree }: { tree: DataTree }, wallNow: number) =>
  Array.from(removals(tree, 'zk1', wallNow), ({ message }) => new TextDecoder().decode(message.rest))

describe('createTTL', () => {
  test('createTTL is Unimplemented without extended types, whatever the TTL', () => {
    for (const ttl of [0n, 5n]) expect(new Server().err(withTTL('/a', ttl))).toBe(ErrorCode.Unimplemented)
  })

  test('DataTree.copy has the nodes with a TTL', () => {
    const server = extended()
    server.ask(withTTL('/a', 5n))
    const copy = server.tree.copy()
    expect(picture(copy)).toEqual(picture(server.tree))
    expect([...copy.ttls]).toEqual(['/a'])
  })
})

describe('removals', () => {
  test('removals: a node goes when its data was not set for longer than its TTL', () => {
    const server = extended()
    server.ask(withTTL('/a', 100n))
    const made = Number(server.tree.get('/a')!.mtime)
    expect(due(server, made + 100)).toEqual([])
    expect(due(server, made + 101)).toEqual(['/a'])
    server.time = made + 50
    server.ask(client.request('setData', { path: '/a', data: bytes('x'), version: -1 }))
    expect(due(server, made + 150)).toEqual([])
    expect(due(server, made + 151)).toEqual(['/a'])
  })

  test('removals: a node that was deleted has no TTL any more', () => {
    const server = extended()
    server.ask(withTTL('/a', 100n))
    server.ask(client.request('delete', { path: '/a', version: -1 }))
    server.make('/a')
    expect(due(server, 100_000)).toEqual([])
  })

  test('removals are done unless a child came in between', () => {
    const server = extended()
    server.ask(withTTL('/a', 100n))
    server.ask(withTTL('/b', 100n))
    const [first, second] = [...removals(server.tree, 'zk1', 100_000)]
    server.make('/b/c')
    const mark = server.zxid
    expect(server.preparation.prepare(first!, mark + 1n)).toEqual({ type: 'delete', path: '/a' })
    expect(server.preparation.prepare(second!, mark + 2n)).toEqual({ type: 'error', err: ErrorCode.NotEmpty })
    expect(operator.events).toEqual([])
  })
})
