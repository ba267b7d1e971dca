import { CreateMode, ErrorCode, type MultiOp, type MultiResult, OpCode, Perms } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { acl, bytes, Client, creating, operator, picture, Server } from './support.ts'

const client = new Client(0x10n)
const { RuntimeInconsistency } = ErrorCode

const create = (path: string | null, flags = 0): MultiOp => ({ type: OpCode.create, request: creating(path, flags) })
const remove = (path: string, version = -1): MultiOp => ({ type: OpCode.delete, request: { path, version } })
const setData = (path: string, version = -1): MultiOp => ({
  type: OpCode.setData,
  request: { path, data: bytes('x'), version },
})
const check = (path: string, version = -1): MultiOp => ({ type: OpCode.check, request: { path, version } })
const multi = (...parts: MultiOp[]) => client.request('multi', parts)

const error = (err: number): MultiResult => ({ type: OpCode.error, response: { err } })
const rolledBack = error(0)
const notTried = error(RuntimeInconsistency)

describe('multi', () => {
  test('does its parts one upon the other, and answers each', () => {
    const server = new Server()
    const stat = { version: 1, dataLength: 1, numChildren: 1, czxid: 1n, mzxid: 1n, pzxid: 1n }
    const results = [
      { type: OpCode.create, response: { path: '/a' } },
      { type: OpCode.create, response: { path: '/a/b' } },
      { type: OpCode.setData, response: { stat: expect.objectContaining(stat) } },
      { type: OpCode.check, response: {} },
      { type: OpCode.delete, response: {} },
    ]
    const parts = [create('/a'), create('/a/b'), setData('/a', 0), check('/a', 1), remove('/a/b')]
    expect(server.do(multi(...parts))).toEqual({ err: 0, response: results })
    expect(server.stat('/a')).toMatchObject({ version: 1, numChildren: 0, cversion: 2 })
    expect(server.tree.lastProcessedZxid).toBe(1n)
  })

  test('answers create2 as create (ZOOKEEPER-4026), and a container as create2', () => {
    const server = new Server()
    const request = multi(
      { type: OpCode.create2, request: creating('/a') },
      { type: OpCode.createContainer, request: creating('/c', CreateMode.CONTAINER) },
      create('/d', CreateMode.CONTAINER),
    )
    expect(server.ask(request)).toEqual([
      { type: OpCode.create, response: { path: '/a' } },
      { type: OpCode.create2, response: { path: '/c', stat: expect.objectContaining({ ephemeralOwner: 0n }) } },
      { type: OpCode.create2, response: { path: '/d', stat: expect.objectContaining({ ephemeralOwner: 0n }) } },
    ])
    expect(server.tree.get('/d')?.isContainer).toBe(true)
  })

  test('takes the opcode of a container with other flags for a plain create', () => {
    const server = new Server()
    const request = multi({ type: OpCode.createContainer, request: creating('/e', CreateMode.EPHEMERAL) })
    expect(server.ask(request)).toEqual([{ type: OpCode.create, response: { path: '/e' } }])
    expect(server.stat('/e').ephemeralOwner).toBe(0x10n)
  })

  test('takes createTTL without a TTL mode for a plain create', () => {
    const request = multi({ type: OpCode.createTTL, request: { ...creating('/a'), ttl: 5n } })
    expect(new Server().ask(request)).toEqual([{ type: OpCode.create, response: { path: '/a' } }])
  })

  test('of nothing is answered with nothing', () => {
    expect(new Server().do(multi())).toEqual({ err: 0, response: [] })
  })
})

describe('multi that is refused', () => {
  test('has err 0, and in its results 0 before the culprit, its code, and -2 behind it', () => {
    const server = new Server()
    expect(server.do(multi(create('/a'), create('/a/b'), create('/a'), create('/c'), check('/none')))).toEqual({
      err: 0,
      response: [rolledBack, rolledBack, error(ErrorCode.NodeExists), notTried, notTried],
    })
  })

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

  test('for a version, an ACL, a right', () => {
    const server = new Server().make('/a', '/closed')
    server.ask(operator.request('setACL', { path: '/closed', acl: [acl(Perms.READ, 'world', 'anyone')], version: -1 }))
    const refused = (part: MultiOp) => server.ask(multi(part))
    expect(refused(check('/a', 1))).toEqual([error(ErrorCode.BadVersion)])
    expect(refused(setData('/closed'))).toEqual([error(ErrorCode.NoAuth)])
    expect(refused({ type: OpCode.create, request: creating('/b', 0, []) })).toEqual([error(ErrorCode.InvalidACL)])
    expect(refused(create('/b', 9))).toEqual([error(ErrorCode.BadArguments)])
    expect(refused(remove('/'))).toEqual([error(ErrorCode.BadArguments)])
    expect(refused({ type: OpCode.createTTL, request: { ...creating('/b', 5), ttl: 5n } })).toEqual([
      error(ErrorCode.Unimplemented),
    ])
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

  test('what its first parts would have done is in the way until it is applied', () => {
    const server = new Server()
    server.prepare(multi(create('/a'), create('/b', CreateMode.PERSISTENT_WITH_TTL)))
    server.prepare(client.request('create', creating('/a')))
    expect(server.commit().map((answer) => answer?.err)).toEqual([ErrorCode.MarshallingError, ErrorCode.NodeExists])
    expect(server.err(client.request('create', creating('/a')))).toBe(0)
  })
})
