import { CreateMode, ErrorCode, type MultiOp, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { releaseOf } from '../../src/database/index.ts'
import { acl, bytes, Client, creating, picture, Server } from './support.ts'

const client = new Client(0x10n)

const create = (path: string | null, flags = 0): MultiOp => ({ type: OpCode.create, request: creating(path, flags) })
const remove = (path: string, version = -1): MultiOp => ({ type: OpCode.delete, request: { path, version } })
const setData = (path: string, version = -1): MultiOp => ({
  type: OpCode.setData,
  request: { path, data: bytes('x'), version },
})
const check = (path: string, version = -1): MultiOp => ({ type: OpCode.check, request: { path, version } })
const multi = (...parts: MultiOp[]) => client.request('multi', parts)

test('multi takes the opcode of a container with other flags for a plain create, before 3.8.2', () => {
  const server = new Server({ release: releaseOf('3.8.1')! })
  const request = multi({ type: OpCode.createContainer, request: creating('/e', CreateMode.EPHEMERAL) })
  expect(server.ask(request)).toEqual([{ type: OpCode.create, response: { path: '/e' } }])
  expect(server.stat('/e').ephemeralOwner).toBe(0x10n)
})

describe('multi that is refused', () => {
  test('changes nothing, but takes its zxid', () => {
    const server = new Server().make('/p', '/p/a')
    const before = picture(server.tree)
    const parts = [create('/p/n-', 2), remove('/p/a'), setData('/p'), create('/e', 1), remove('/p')]
    expect(server.do(multi(...parts)).err).toBe(0)
    expect(picture(server.tree)).toEqual({ ...(before as object), lastProcessedZxid: 3n })
  })

  test('leaves no trace for what comes behind it before it is applied', () => {
    const server = new Server().make('/p')
    server.prepare(multi(create('/p/n-', CreateMode.PERSISTENT_SEQUENTIAL), setData('/p'), check('/none')))
    server.prepare(client.request('setData', { path: '/p', data: null, version: 0 }))
    server.prepare(client.request('create', creating('/p/n-', CreateMode.PERSISTENT_SEQUENTIAL)))
    const [, second, third] = server.commit()
    expect(second?.err).toBe(0)
    expect(third?.response).toEqual({ path: '/p/n-0000000000' })
  })

  test('leaves standing what was outstanding before it: counters, versions, deletions (ZOOKEEPER-1624)', () => {
    const server = new Server().make('/p', '/gone')
    server.prepare(client.request('create', creating('/p/n-', CreateMode.PERSISTENT_SEQUENTIAL)))
    server.prepare(client.request('setData', { path: '/p', data: null, version: 0 }))
    server.prepare(client.request('delete', { path: '/gone', version: -1 }))
    const parts = [create('/p/n-', CreateMode.PERSISTENT_SEQUENTIAL), setData('/p'), create('/gone'), check('/none')]
    server.prepare(multi(...parts))
    server.prepare(client.request('create', creating('/p/n-', CreateMode.PERSISTENT_SEQUENTIAL)))
    server.prepare(client.request('setData', { path: '/p', data: null, version: 1 }))
    server.prepare(client.request('delete', { path: '/gone', version: -1 }))
    const answers = server.commit()
    expect(answers.map((answer) => answer?.err)).toEqual([0, 0, 0, 0, 0, 0, ErrorCode.NoNode])
    expect(answers[4]?.response).toEqual({ path: '/p/n-0000000001' })
  })

  test('leaves standing what is behind changes that have been applied meanwhile', () => {
    const server = new Server().make('/a')
    server.preparation.prepare(client.request('setData', { path: '/a', data: null, version: 0 }), 2n)
    server.preparation.prepare(client.request('setData', { path: '/a', data: null, version: 1 }), 3n)
    server.preparation.applied(2n)
    server.preparation.prepare(multi(setData('/a'), check('/none')), 4n)
    const next = client.request('setData', { path: '/a', data: null, version: 2 })
    expect(server.preparation.prepare(next, 5n).type).toBe('setData')
  })

  test('loses the older change of a node that got its number only now', () => {
    const server = new Server().make('/p', '/p/n-0000000001')
    server.prepare(client.request('delete', { path: '/p/n-0000000001', version: -1 }))
    server.prepare(multi(create('/p/n-', CreateMode.PERSISTENT_SEQUENTIAL), check('/none')))
    // The tree is asked, and still has the node.
    expect(server.prepare(client.request('check', { path: '/p/n-0000000001', version: -1 })).type).toBe('check')
  })
})

describe('multi that is refused as a whole, with -5:', () => {
  test.each<[string, ...MultiOp[]]>([
    ['a null path', create('/a'), create(null)],
    ['a read', { type: OpCode.getData, request: { path: '/', watch: false } }],
    ['a read among writes', create('/a'), { type: OpCode.getChildren, request: { path: '/', watch: false } }],
    ['a TTL with the opcode of create', create('/a', CreateMode.PERSISTENT_WITH_TTL)],
    ['an ACL without an id', { type: OpCode.create, request: creating('/a', 0, [acl(1, 'digest', null)]) }],
  ])('%s', (_why, ...parts) => {
    const server = new Server()
    expect(server.do(multi(...parts))).toEqual({ err: ErrorCode.MarshallingError })
    expect(server.children('/')).toEqual(['zookeeper'])
  })

  test('what its first parts would have done is in the way until it is applied, before 3.8.2', () => {
    const server = new Server({ release: releaseOf('3.8.1')! })
    server.prepare(multi(create('/a'), create('/b', CreateMode.PERSISTENT_WITH_TTL)))
    server.prepare(client.request('create', creating('/a')))
    expect(server.commit().map((answer) => answer?.err)).toEqual([ErrorCode.MarshallingError, ErrorCode.NodeExists])
    expect(server.err(client.request('create', creating('/a')))).toBe(0)
  })
})
