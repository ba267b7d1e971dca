import { ErrorCode, type MultiOp, OpCode, Perms } from '@zk/wire'
import { beforeEach, describe, expect, test } from 'vitest'
import { acl, bytes, Client, creating, operator, Server } from './support.ts'

const client = new Client(0x10n)
const getData = (path: string | null, watch = false): MultiOp => ({ type: OpCode.getData, request: { path, watch } })
const getChildren = (path: string | null): MultiOp => ({ type: OpCode.getChildren, request: { path, watch: false } })
const multiRead = (...parts: MultiOp[]) => client.request('multiRead', parts)
const error = (err: number) => ({ type: OpCode.error, response: { err } })

let server: Server

beforeEach(() => {
  server = new Server().make('/a', '/a/b', '/closed')
  server.ask(client.request('setData', { path: '/a', data: bytes('data'), version: -1 }))
  server.ask(operator.request('setACL', { path: '/closed', acl: [acl(Perms.WRITE, 'world', 'anyone')], version: -1 }))
})

describe('multiRead', () => {
  test('multiRead answers each part for itself', () => {
    expect(server.ask(multiRead(getData('/a'), getData('/none'), getChildren('/a'), getChildren('/closed')))).toEqual([
      { type: OpCode.getData, response: { data: bytes('data'), stat: server.stat('/a') } },
      error(ErrorCode.NoNode),
      { type: OpCode.getChildren, response: { children: ['b'] } },
      error(ErrorCode.NoAuth),
    ])
    expect(server.ask(multiRead())).toEqual([])
  })

  test('multiRead sets no watch', () => {
    server.ask(multiRead(getData('/a', true)))
    expect(server.tree.watchCount).toBe(0)
  })

  test.each<[string, unknown[] | undefined, ...MultiOp[]]>([
    ['a write', [], { type: OpCode.create, request: creating('/new') }],
    ['a write among reads', undefined, getData('/a'), { type: OpCode.delete, request: { path: '/a', version: -1 } }],
    [
      'a null path',
      [{ type: OpCode.getChildren, response: { children: ['b'] } }],
      getChildren('/a'),
      getChildren(null),
    ],
  ])('multiRead with %s is refused as a whole', (_, response, ...parts) => {
    expect(server.do(multiRead(...parts))).toEqual({ err: ErrorCode.MarshallingError, response })
    expect(server.children('/a')).toEqual(['b'])
  })
})
