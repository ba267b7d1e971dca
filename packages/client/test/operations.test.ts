import {
  type ACL as WireACL,
  Create2Response,
  decode,
  encode,
  GetACLResponse,
  GetAllChildrenNumberResponse,
  GetChildren2Response,
  GetDataResponse,
  GetEphemeralsResponse,
  OpCode,
  ProtocolError,
  Reader,
  SetACLResponse,
  SetDataResponse,
  SyncResponse,
  type Type,
  type TypeOf,
  WhoAmIResponse,
  Writer,
} from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { Chroot } from '../src/base/chroot.ts'
import { getACL, setACL } from '../src/operations/acl.ts'
import type { ACL, Data } from '../src/base/arguments.ts'
import { getChildren, getChildrenAndWatch } from '../src/operations/children.ts'
import {
  create,
  type CreateOptions,
  CREATOR_ALL_ACL,
  OPEN_ACL_UNSAFE,
  READ_ACL_UNSAFE,
} from '../src/operations/create.ts'
import { getData, getDataAndWatch, setData } from '../src/operations/data.ts'
import { checkWatches } from '../src/operations/check-watches.ts'
import { deleteNode } from '../src/operations/delete.ts'
import { exists, existsAndWatch } from '../src/operations/exists.ts'
import { getAllChildrenNumber } from '../src/operations/get-all-children-number.ts'
import { getEphemerals } from '../src/operations/get-ephemerals.ts'
import type { Operation, WireOperation } from '../src/operations/operation.ts'
import { checkedType, type RemovableWatches, removeWatches } from '../src/operations/remove-watches.ts'
import { sync } from '../src/operations/sync.ts'
import { whoAmI } from '../src/operations/who-am-i.ts'
import { prepare } from './support/made-requests.ts'
import { stat, wireStat } from './support/stat.ts'
import { thrownBy } from './support/thrown.ts'

const app = new Chroot('/app')
const world = { scheme: 'world', id: 'anyone' }

/** What a call puts on the wire, read back. */
function requestOf<Args extends readonly unknown[], W extends WireOperation, Result>(
  operation: Operation<Args, W, Result>,
  ...args: Args
): { opCode: number; kind: string; op: string; path: string | undefined; body: TypeOf<W['request']> } {
  const prepared = prepare(operation, app, args)
  const { opCode, kind, op, path } = prepared
  const writer = new Writer()
  prepared.body(writer)
  const wire = typeof operation.wire === 'function' ? operation.wire(...args) : operation.wire
  return { opCode, kind, op, path, body: decode(wire.request as Type<TypeOf<W['request']>>, writer.toBytes()) }
}

/** What a call makes of a reply. */
function resultOf<Args extends readonly unknown[], W extends WireOperation, Result, Body>(
  operation: Operation<Args, W, Result>,
  args: Args,
  response: Type<Body>,
  body: Body,
): unknown {
  return prepare(operation, app, args).result(new Reader(encode(response, body)))
}

describe('create', () => {
  test('create is a write of path, bytes, ACL and flags, answered with path and Stat', () => {
    expect(requestOf(create, '/a', 'é', { mode: 'EPHEMERAL', acl: READ_ACL_UNSAFE })).toEqual({
      opCode: OpCode.create2,
      kind: 'write',
      op: 'create',
      path: '/a',
      body: { path: '/app/a', data: Uint8Array.of(0xc3, 0xa9), acl: [{ perms: 1, id: world }], flags: 1 },
    })
    expect(resultOf(create, ['/a', undefined, {}], Create2Response, { path: '/app/a', stat: wireStat })).toEqual({
      path: '/a',
      stat,
    })
  })

  test('create makes a persistent node with the open ACL and no data by default', () => {
    expect(requestOf(create, '/a', undefined, {}).body).toEqual({
      path: '/app/a',
      data: new Uint8Array(0),
      acl: [{ perms: 31, id: world }],
      flags: 0,
    })
  })

  test.each([
    ['PERSISTENT', 0, OpCode.create2],
    ['EPHEMERAL', 1, OpCode.create2],
    ['PERSISTENT_SEQUENTIAL', 2, OpCode.create2],
    ['EPHEMERAL_SEQUENTIAL', 3, OpCode.create2],
    ['CONTAINER', 4, OpCode.createContainer],
    ['PERSISTENT_WITH_TTL', 5, OpCode.createTTL],
    ['PERSISTENT_SEQUENTIAL_WITH_TTL', 6, OpCode.createTTL],
  ] as const)('create of %s has flags %i and opcode %i', (mode, flags, opCode) => {
    const options = mode.endsWith('_TTL') ? { mode, ttl: 5 } : { mode }
    expect(requestOf(create, '/a', undefined, options)).toMatchObject({ opCode, body: { flags } })
  })

  test.each(['persistent', '', 0, null, 'toString'])('create refuses mode %j', (mode) => {
    const error = thrownBy(() => requestOf(create, '/a', undefined, { mode } as unknown as CreateOptions))
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toHaveProperty('message', expect.stringMatching(/^mode must be one of PERSISTENT, EPHEMERAL, /))
  })

  test('create takes TTLs from 1 to 2⁴⁰ - 1, in ms, and refuses others', () => {
    const mode = 'PERSISTENT_WITH_TTL'
    for (const ttl of [1, 2 ** 40 - 1]) {
      expect(requestOf(create, '/a', undefined, { mode, ttl }).body).toMatchObject({ ttl: BigInt(ttl), flags: 5 })
    }
    for (const ttl of [0, -1, 2 ** 40, 1.5, NaN, Infinity, '5', 5n, null]) {
      const error = thrownBy(() => requestOf(create, '/a', undefined, { mode, ttl: ttl as number }))
      expect(error).toBeInstanceOf(RangeError)
      expect(error).toHaveProperty(
        'message',
        expect.stringMatching(/^ttl must be an integer from 1 to 1099511627775 ms/),
      )
    }
  })

  test('create lets a path end with a slash only where a counter follows', () => {
    expect(requestOf(create, '/a/', undefined, { mode: 'EPHEMERAL_SEQUENTIAL' }).body.path).toBe('/app/a/')
    const numbered = { mode: 'PERSISTENT_SEQUENTIAL_WITH_TTL', ttl: 5 } as const
    expect(requestOf(create, '/a/', undefined, numbered).body.path).toBe('/app/a/')
    expect(requestOf(create, '/', undefined, numbered).body.path).toBe('/app/')
    expect(requestOf(create, '/', undefined, { mode: 'PERSISTENT_SEQUENTIAL' }).body.path).toBe('/app/')
    expect(() => requestOf(create, '/a/', undefined, {})).toThrow(TypeError)
  })

  test('create gives a path that the server invented as the caller would write it', () => {
    const args: [string, undefined, CreateOptions] = ['/a-', undefined, { mode: 'EPHEMERAL_SEQUENTIAL' }]
    const body = { path: '/app/a-0000000007', stat: wireStat }
    expect(resultOf(create, args, Create2Response, body)).toMatchObject({ path: '/a-0000000007' })
  })

  test('create takes no path for an answer', () => {
    const answer = () => resultOf(create, ['/a', undefined, {}], Create2Response, { path: null, stat: wireStat })
    expect(answer).toThrow(ProtocolError)
    expect(answer).toThrow('null where a value is required in Create2Response.path')
  })

  test('the three ACLs for create are those of ZooDefs.Ids', () => {
    expect(OPEN_ACL_UNSAFE).toEqual([{ perms: 31, id: world }])
    expect(READ_ACL_UNSAFE).toEqual([{ perms: 1, id: world }])
    expect(CREATOR_ALL_ACL).toEqual([{ perms: 31, id: { scheme: 'auth', id: '' } }])
  })
})

describe('reads', () => {
  test.each([
    [getData, OpCode.getData, false],
    [getDataAndWatch, OpCode.getData, true],
    [exists, OpCode.exists, false],
    [existsAndWatch, OpCode.exists, true],
    [getChildren, OpCode.getChildren2, false],
    [getChildrenAndWatch, OpCode.getChildren2, true],
  ] as const)('$name is a read of a path, and says whether to watch', (operation, opCode, watch) => {
    expect(requestOf(operation as typeof getData, '/a')).toEqual({
      opCode,
      kind: 'read',
      op: operation.name,
      path: '/a',
      body: { path: '/app/a', watch },
    })
  })

  test('the reads that watch know which watch it is', () => {
    expect([getDataAndWatch.watch, existsAndWatch.watch, getChildrenAndWatch.watch]).toEqual(['data', 'exist', 'child'])
  })

  test.each([getData, getDataAndWatch])(
    '$name gives the data, empty where there is none, and the Stat',
    (operation) => {
      const data = Uint8Array.of(1, 2, 3)
      expect(resultOf(operation, ['/a'], GetDataResponse, { data, stat: wireStat })).toEqual({ data, stat })
      expect(resultOf(operation, ['/a'], GetDataResponse, { data: null, stat: wireStat })).toEqual({
        data: new Uint8Array(0),
        stat,
      })
    },
  )

  test('getData gives bytes in memory of their own', () => {
    const frame = encode(GetDataResponse, { data: Uint8Array.of(1, 2, 3), stat: wireStat })
    const { data } = prepare(getData, app, ['/a']).result(new Reader(frame)) as { data: Uint8Array<ArrayBuffer> }
    expect(data.buffer.byteLength).toBe(3)
    frame.fill(0)
    expect(data).toEqual(Uint8Array.of(1, 2, 3))
  })

  test.each([exists, existsAndWatch])('$name gives the Stat, and undefined where there is no node', (operation) => {
    expect(resultOf(operation, ['/a'], SetDataResponse, { stat: wireStat })).toEqual(stat)
    expect(Object.keys(operation.answers!)).toEqual(['NoNode'])
    expect(operation.answers!.NoNode!()).toBeUndefined()
  })

  test.each([getChildren, getChildrenAndWatch])('$name gives the names and the Stat of the parent', (operation) => {
    const children = ['b', 'a', '']
    expect(resultOf(operation, ['/a'], GetChildren2Response, { children, stat: wireStat })).toEqual({ children, stat })
  })

  test.each([[null], [['a', null]]])('getChildren takes %j for no list', (children) => {
    const answer = () => resultOf(getChildren, ['/a'], GetChildren2Response, { children, stat: wireStat })
    expect(answer).toThrow(ProtocolError)
    expect(answer).toThrow('GetChildren2Response.children')
  })

  test('toStat keeps longs as bigints, and times as numbers', () => {
    expect(
      resultOf(exists, ['/a'], SetDataResponse, { stat: { ...wireStat, ctime: 1_700_000_000_000n } }),
    ).toMatchObject({
      ctime: 1_700_000_000_000,
      czxid: 1n,
      ephemeralOwner: 8n,
    })
  })
})

describe('setData', () => {
  test('setData is a write of path, bytes and version, answered with the Stat', () => {
    expect(requestOf(setData, '/a', Uint8Array.of(9), { version: 3 })).toEqual({
      opCode: OpCode.setData,
      kind: 'write',
      op: 'setData',
      path: '/a',
      body: { path: '/app/a', data: Uint8Array.of(9), version: 3 },
    })
    expect(resultOf(setData, ['/a', '', {}], SetDataResponse, { stat: wireStat })).toEqual(stat)
  })

  test('setData is for any version by default', () => {
    expect(requestOf(setData, '/a', '', {}).body.version).toBe(-1)
  })

  test('setData takes a Buffer for the bytes it is', () => {
    expect(requestOf(setData, '/a', Buffer.from('abc'), {}).body.data).toEqual(Uint8Array.of(97, 98, 99))
  })
})

describe('delete', () => {
  test('delete is a write of path and version, answered with nothing', () => {
    expect(requestOf(deleteNode, '/a', {})).toEqual({
      opCode: OpCode.delete,
      kind: 'write',
      op: 'delete',
      path: '/a',
      body: { path: '/app/a', version: -1 },
    })
    expect(prepare(deleteNode, app, ['/a', {}]).result(new Reader(new Uint8Array(0)))).toBeUndefined()
  })
})

describe('ACLs', () => {
  const acl: ACL[] = [{ perms: 5, id: { scheme: 'digest', id: 'alice:hash' } }]

  test('getACL is a read of a path, answered with list and Stat', () => {
    expect(requestOf(getACL, '/a')).toEqual({
      opCode: OpCode.getACL,
      kind: 'read',
      op: 'getACL',
      path: '/a',
      body: { path: '/app/a' },
    })
    expect(resultOf(getACL, ['/a'], GetACLResponse, { acl, stat: wireStat })).toEqual({ acl, stat })
  })

  test.each<[readonly WireACL[] | null, string]>([
    [null, 'GetACLResponse.acl'],
    [[{ perms: 1, id: { scheme: null, id: 'anyone' } }], 'ACL.id.scheme'],
    [[{ perms: 1, id: { scheme: 'world', id: null } }], 'ACL.id.id'],
  ])('getACL takes %j for no list', (acl, field) => {
    const answer = () => resultOf(getACL, ['/a'], GetACLResponse, { acl, stat: wireStat })
    expect(answer).toThrow(ProtocolError)
    expect(answer).toThrow(`null where a value is required in ${field}`)
  })

  test('setACL is a write of path, list and version, answered with the Stat', () => {
    expect(requestOf(setACL, '/a', acl, { version: 0 })).toEqual({
      opCode: OpCode.setACL,
      kind: 'write',
      op: 'setACL',
      path: '/a',
      body: { path: '/app/a', acl, version: 0 },
    })
    expect(resultOf(setACL, ['/a', acl, {}], SetACLResponse, { stat: wireStat })).toEqual(stat)
  })
})

describe('sync', () => {
  test('sync is neither read nor write, and its reply has a path that is not used', () => {
    expect(requestOf(sync, '/a')).toEqual({
      opCode: OpCode.sync,
      kind: 'neither',
      op: 'sync',
      path: '/a',
      body: { path: '/app/a' },
    })
    expect(resultOf(sync, ['/a'], SyncResponse, { path: '/app/a' })).toBeUndefined()
    expect(resultOf(sync, ['/a'], SyncResponse, { path: null })).toBeUndefined()
  })
})

describe('getEphemerals', () => {
  test('getEphemerals asks for text, and for nothing beside the chroot', () => {
    expect(requestOf(getEphemerals, '/locks/a-')).toMatchObject({
      opCode: OpCode.getEphemerals,
      kind: 'read',
      body: { prefixPath: '/app/locks/a-' },
    })
    expect(requestOf(getEphemerals, '/').body).toEqual({ prefixPath: '/app/' })
    expect(requestOf(getEphemerals, '/locks/').body).toEqual({ prefixPath: '/app/locks/' })
    const body = { ephemerals: ['/app/locks/a', '/app/b'] }
    expect(resultOf(getEphemerals, ['/'], GetEphemeralsResponse, body)).toEqual(['/locks/a', '/b'])
    expect(() => resultOf(getEphemerals, ['/'], GetEphemeralsResponse, { ephemerals: null })).toThrow(ProtocolError)
  })
})

describe('getAllChildrenNumber', () => {
  test('getAllChildrenNumber is a read of a path, answered with a number', () => {
    expect(requestOf(getAllChildrenNumber, '/a')).toMatchObject({
      opCode: OpCode.getAllChildrenNumber,
      kind: 'read',
      path: '/a',
      body: { path: '/app/a' },
    })
    expect(resultOf(getAllChildrenNumber, ['/a'], GetAllChildrenNumberResponse, { totalNumber: 7 })).toBe(7)
  })
})

describe('whoAmI', () => {
  test('whoAmI is a request of nothing, answered with identities', () => {
    const prepared = prepare(whoAmI, app, [])
    const { opCode, kind, path } = prepared
    const writer = new Writer()
    prepared.body(writer)
    expect({ opCode, kind, path, bytes: writer.toBytes().length }).toEqual({
      opCode: OpCode.whoAmI,
      kind: 'read',
      path: undefined,
      bytes: 0,
    })
    const clientInfo = [
      { authScheme: 'ip', user: '127.0.0.1' },
      { authScheme: 'digest', user: 'alice' },
    ]
    expect(resultOf(whoAmI, [], WhoAmIResponse, { clientInfo })).toEqual(clientInfo)
    expect(() => resultOf(whoAmI, [], WhoAmIResponse, { clientInfo: [{ authScheme: null, user: '' }] })).toThrow(
      'ClientInfo.authScheme',
    )
  })
})

describe('checkWatches', () => {
  test('checkWatches has opcode 17, and says whether there is one', () => {
    expect(requestOf(checkWatches, '/a', 'Data')).toMatchObject({
      opCode: 17,
      kind: 'neither',
      body: { path: '/app/a', type: 2 },
    })
    expect(prepare(checkWatches, app, ['/a', 'Any']).result(new Reader(new Uint8Array(0)))).toBe(true)
    expect(checkWatches.answers!.NoWatcher!()).toBe(false)
  })
})

describe('removeWatches', () => {
  test.each([
    ['Children', 1],
    ['Data', 2],
    ['Any', 3],
    ['Persistent', 4],
    ['PersistentRecursive', 5],
  ] as const)('removeWatches of %s has type %i, and opcode 18: 17 would leave the watch', (type, number) => {
    expect(requestOf(removeWatches, '/a', type)).toEqual({
      opCode: 18,
      kind: 'neither',
      op: 'removeWatches',
      path: '/a',
      body: { path: '/app/a', type: number },
    })
  })

  test('removeWatches is content when the watch is gone already', () => {
    expect(Object.keys(removeWatches.answers!)).toEqual(['NoWatcher'])
  })

  test.each(['any', '', 'toString', undefined, 3])('removeWatches refuses the type %j', (type) => {
    const error = thrownBy(() => checkedType(type as RemovableWatches))
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toHaveProperty('message', 'type must be one of Data, Children, Persistent, PersistentRecursive, Any')
  })
})

const calls: Record<string, (path: string) => unknown> = {
  create: (path) => requestOf(create, path, undefined, {}),
  delete: (path) => requestOf(deleteNode, path, {}),
  exists: (path) => requestOf(exists, path),
  existsAndWatch: (path) => requestOf(existsAndWatch, path),
  getData: (path) => requestOf(getData, path),
  getDataAndWatch: (path) => requestOf(getDataAndWatch, path),
  setData: (path) => requestOf(setData, path, '', {}),
  getChildren: (path) => requestOf(getChildren, path),
  getChildrenAndWatch: (path) => requestOf(getChildrenAndWatch, path),
  getACL: (path) => requestOf(getACL, path),
  setACL: (path) => requestOf(setACL, path, OPEN_ACL_UNSAFE, {}),
  sync: (path) => requestOf(sync, path),
  removeWatches: (path) => requestOf(removeWatches, path, 'Any'),
  checkWatches: (path) => requestOf(checkWatches, path, 'Any'),
  getAllChildrenNumber: (path) => requestOf(getAllChildrenNumber, path),
}

describe('arguments', () => {
  test.each(Object.entries(calls))('%s refuses what cannot be a path, before there is a request', (_, call) => {
    for (const path of ['', 'a', '/a//b', '/a/..', '/a/', '/\u0000', undefined, null, 5]) {
      expect(() => call(path as string)).toThrow(TypeError)
    }
  })

  test.each(Object.entries(calls))('%s of the root is of the chroot', (_, call) => {
    expect(call('/')).toMatchObject({ path: '/', body: { path: '/app' } })
  })

  const versions: Record<string, (version: number) => { body: { version: number } }> = {
    setData: (version) => requestOf(setData, '/a', '', { version }),
    delete: (version) => requestOf(deleteNode, '/a', { version }),
    setACL: (version) => requestOf(setACL, '/a', OPEN_ACL_UNSAFE, { version }),
  }
  test.each(Object.entries(versions))('%s takes versions of 32 bits, and refuses others', (_, call) => {
    for (const version of [-1, 0, 2 ** 31 - 1, -2, -(2 ** 31)]) expect(call(version).body.version).toBe(version)
    for (const version of [-(2 ** 31) - 1, 2 ** 31, 1.5, NaN, Infinity, '3', null, 3n]) {
      const error = thrownBy(() => call(version as number))
      expect(error).toBeInstanceOf(RangeError)
      expect(error).toHaveProperty(
        'message',
        expect.stringMatching(/^version must be a 32-bit integer, or -1 for any, not /),
      )
    }
  })

  test.each([
    [undefined, 'undefined'],
    [null, 'null'],
    [5, '5'],
    [{ password: 'secret' }, 'object'],
    [['secret'], 'object'],
    [new ArrayBuffer(1), 'object'],
    [new Uint16Array(1), 'object'],
    [Symbol('secret'), 'symbol'],
  ])('setData refuses data %o and says only what kind of thing it is', (data, what) => {
    const error = thrownBy(() => requestOf(setData, '/a', data as unknown as Data, {}))
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toHaveProperty('message', `data must be a Uint8Array or a string, not ${what}`)
  })

  const lists: Record<string, (acl: readonly ACL[]) => unknown> = {
    create: (acl) => requestOf(create, '/a', undefined, { acl }),
    setACL: (acl) => requestOf(setACL, '/a', acl, {}),
  }
  test.each(Object.entries(lists))('%s refuses an ACL without entries: the server would (InvalidACL)', (_, call) => {
    for (const acl of [[], null, {}, 'world']) {
      expect(() => call(acl as unknown as ACL[])).toThrow(
        'acl must be a list of at least one { perms, id: { scheme, id } }',
      )
    }
  })

  test.each(Object.entries(lists))('%s says which entry of an ACL is wrong', (_, call) => {
    const good = { perms: 31, id: world }
    for (const perms of [0, 32, -1, 1.5, NaN, '31', undefined]) {
      const error = thrownBy(() => call([good, { perms, id: world } as ACL]))
      expect(error).toBeInstanceOf(RangeError)
      expect(error).toHaveProperty(
        'message',
        expect.stringMatching(/^acl\[1\]\.perms must be a sum of Perms from 1 to 31, not /),
      )
    }
    for (const id of [undefined, null, {}, { scheme: '', id: 'x' }, { scheme: 'world' }, { scheme: 'world', id: 5 }]) {
      const error = thrownBy(() => call([{ perms: 31, id } as ACL]))
      expect(error).toBeInstanceOf(TypeError)
      expect(error).toHaveProperty('message', expect.stringMatching(/^acl\[0\]\.id must be \{ scheme, id \}/))
    }
    expect(() => call([null as unknown as ACL])).toThrow('acl[0].perms')
  })

  test('an ACL that is refused shows no id, which may be a hash of a password', () => {
    const error = thrownBy(() =>
      requestOf(setACL, '/a', [{ perms: 99, id: { scheme: 'digest', id: 'alice:hash' } }], {}),
    )
    expect((error as Error).message).not.toContain('hash')
  })
})
