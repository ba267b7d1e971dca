import { ErrorCode } from '@zk/wire'
import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { ConnectError, formatSessionId, isTransient, KeeperError, type KeeperErrorCode } from '../src/base/errors.ts'

describe('KeeperError', () => {
  test('KeeperError names operation, path, server and session, and what to do', () => {
    const details = { op: 'create', path: '/a/b', server: 'zk1:2181', sessionId: 0x1234n }
    const error = new KeeperError('NoNode', details)
    expect(error.message).toBe(
      'create /a/b: NoNode (server zk1:2181, session 0x1234): the node, or its parent, does not exist',
    )
    expect(error).toMatchObject({ code: 'NoNode', ...details })
  })

  test.each([
    [{}, 'BadVersion: the node was changed meanwhile; read it again'],
    [{ op: 'sync' }, 'sync: BadVersion: the node was changed meanwhile; read it again'],
    [{ path: '/a' }, '/a: BadVersion: the node was changed meanwhile; read it again'],
    [{ server: 'zk1:2181' }, 'BadVersion (server zk1:2181): the node was changed meanwhile; read it again'],
  ])('KeeperError leaves out what it does not know: %j', (details, message) => {
    expect(new KeeperError('BadVersion', details).message).toBe(message)
  })

  test('KeeperError of a multi names the operation that failed it', () => {
    const results = ['Ok', 'NoNode', 'RuntimeInconsistency'] as const
    const error = new KeeperError('NoNode', { op: 'multi', path: '/b', index: 1, results })
    expect(error.message).toMatch(/^multi \/b: NoNode \(operation 1\): /)
    expect(error).toMatchObject({ index: 1, results })
  })

  test('KeeperError with an unknown outcome says so, whatever its code', () => {
    for (const code of ['ConnectionLoss', 'RequestTimeout', 'SessionExpired', 'Closed', 'InvalidResponse'] as const) {
      const error = new KeeperError(code, { op: 'setData', path: '/a', outcomeUnknown: true })
      expect(error.message).toBe(
        `setData /a: ${code}: sent but not answered: it may have happened; read before you repeat it`,
      )
      expect(error.outcomeUnknown).toBe(true)
    }
  })

  test('KeeperError.outcomeUnknown is false unless it is given', () => {
    expect(new KeeperError('ConnectionLoss').outcomeUnknown).toBe(false)
  })

  test.each(Object.entries(ErrorCode).filter(([code]) => code !== 'Ok'))(
    'KeeperError of %s has the number %i',
    (code, number) => {
      expect(new KeeperError(code as KeeperErrorCode).number).toBe(number)
    },
  )

  test.each(['Closed', 'ResponseTooLarge', 'InvalidResponse'] as const)('KeeperError of %s has no number', (code) => {
    expect(new KeeperError(code).number).toBeUndefined()
  })

  test('KeeperError reports an unknown code with its number', () => {
    const error = new KeeperError('Unknown', { op: 'getData', path: '/a', number: -200 })
    expect(error).toMatchObject({ code: 'Unknown', number: -200, message: 'getData /a: unknown error code -200' })
    expect(new KeeperError('Unknown', { op: 'getData' }).message).toBe('getData: unknown error code')
  })

  test('KeeperError keeps its cause, and has none unless it is given', () => {
    const cause = new Error('read ECONNRESET')
    expect(new KeeperError('ConnectionLoss', { cause }).cause).toBe(cause)
    expect('cause' in new KeeperError('ConnectionLoss')).toBe(false)
  })

  test('KeeperError is an Error with a name and a stack', () => {
    const error = new KeeperError('NoNode', { op: 'getData', path: '/a' })
    expect(error).toBeInstanceOf(Error)
    expect(error.name).toBe('KeeperError')
    expect(inspect(error)).toContain('errors.test.ts')
  })
})

describe('KeeperError.is', () => {
  test('KeeperError.is asks for any of the codes, or for none', () => {
    const error: unknown = new KeeperError('NoNode')
    expect(KeeperError.is(error)).toBe(true)
    expect(KeeperError.is(error, 'NoNode')).toBe(true)
    expect(KeeperError.is(error, 'NodeExists', 'NoNode')).toBe(true)
    expect(KeeperError.is(error, 'NodeExists')).toBe(false)
  })

  test('KeeperError.is finds a number under whatever name it has, and under none', () => {
    const unknown: unknown = new KeeperError('Unknown', { number: -200 })
    expect(KeeperError.is(unknown, -200)).toBe(true)
    expect(KeeperError.is(unknown, 'NoNode', -200)).toBe(true)
    expect(KeeperError.is(unknown, 'Unknown')).toBe(true)
    expect(KeeperError.is(unknown, -201, 'NoNode')).toBe(false)
    const known: unknown = new KeeperError('NoNode')
    expect(KeeperError.is(known, ErrorCode.NoNode)).toBe(true)
    expect(KeeperError.is(known, ErrorCode.NodeExists)).toBe(false)
    // A code of ours has no number, so no number is its.
    expect(KeeperError.is(new KeeperError('Closed'), 0, -1)).toBe(false)
  })

  test.each([undefined, null, 'NoNode', 5, {}, new Error('NoNode'), new ConnectError([], 1), { code: 'NoNode' }])(
    'KeeperError.is is false for %s',
    (value) => {
      expect(KeeperError.is(value)).toBe(false)
      expect(KeeperError.is(value, 'NoNode')).toBe(false)
    },
  )
})

describe('KeeperError of a client with a chroot', () => {
  const chroot = '/app'

  test('KeeperError names the chroot, and NoNode says that the chroot may be what is missing', () => {
    expect(new KeeperError('BadVersion', { op: 'setData', path: '/a', chroot, server: 'zk1:2181' }).message).toBe(
      'setData /a: BadVersion (chroot /app, server zk1:2181): the node was changed meanwhile; read it again',
    )
    expect(new KeeperError('NoNode', { op: 'getData', path: '/a', chroot }).message).toBe(
      "getData /a: NoNode (chroot /app): the node, or its parent, does not exist, or the chroot does not: ensurePath('/') creates the chroot",
    )
  })

  test.each([
    ['getData', '/'],
    ['create', '/a'],
  ])('KeeperError of %s %s says that the chroot does not exist: nothing else can be missing', (op, path) => {
    const { message } = new KeeperError('NoNode', { op, path, chroot })
    expect(message).toBe(
      `${op} ${path}: NoNode (chroot /app): the chroot /app does not exist: ensurePath('/') creates the chroot`,
    )
  })

  test.each([
    ['create', '/a/b'],
    ['getData', '/a'],
    ['multi', '/a'],
  ])('KeeperError of %s %s leaves open which node is missing', (op, path) => {
    expect(new KeeperError('NoNode', { op, path, chroot }).message).toContain('or the chroot does not')
  })

  test('KeeperError of a write whose outcome is unknown keeps its own advice', () => {
    const error = new KeeperError('ConnectionLoss', { op: 'create', path: '/a', chroot, outcomeUnknown: true })
    expect(error.message).toBe(
      'create /a: ConnectionLoss (chroot /app): sent but not answered: it may have happened; read before you repeat it',
    )
    expect(JSON.parse(JSON.stringify(error))).toMatchObject({ path: '/a', chroot })
  })
})

describe('ConnectError', () => {
  test('ConnectError lists what happened at each server', () => {
    const servers = [
      { server: 'zk1:2181', attempts: 3, error: new Error('connect ECONNREFUSED') },
      { server: 'zk2:2181', attempts: 1, error: new Error('no TCP connection in time') },
    ]
    const error = new ConnectError(servers, 1_000.4)
    expect(error.message).toBe(
      'no ZooKeeper server could be reached within 1000 ms: ' +
        'zk1:2181 (tried 3): connect ECONNREFUSED; zk2:2181 (tried 1): no TCP connection in time',
    )
    expect(error.servers).toBe(servers)
    expect(error.name).toBe('ConnectError')
  })

  test('ConnectError reports what happened at each address of a name: Node’s own error has no details', () => {
    const each = ['connect ECONNREFUSED 127.0.0.1:2181', 'connect ECONNREFUSED ::1:2181']
    const error = new AggregateError(each.map((message) => new Error(message)))
    expect(error.message).toBe('')
    expect(new ConnectError([{ server: 'zk1:2181', attempts: 1, error }], 1).message).toContain(
      `zk1:2181 (tried 1): ${each.join(', ')}`,
    )
  })

  test('ConnectError says at least the name of an error without a message', () => {
    const error = new TypeError('')
    expect(new ConnectError([{ server: 'zk1:2181', attempts: 1, error }], 1).message).toMatch(/: TypeError$/)
  })

  test('ConnectError without any attempt states that no server answered', () => {
    expect(new ConnectError([], 5).message).toMatch(/within 5 ms: no server answered$/)
  })
})

test('formatSessionId writes ids as ZooKeeper does in its logs', () => {
  expect(formatSessionId(0x100004d4b2f0000n)).toBe('0x100004d4b2f0000')
  expect(formatSessionId(-1n)).toBe('0xffffffffffffffff')
  expect(formatSessionId(-(2n ** 63n))).toBe('0x8000000000000000')
})

describe('isTransient', () => {
  test.each([
    'ConnectionLoss',
    'RequestTimeout',
    'OperationTimeout',
    'ThrottledOp',
    'QueueFull',
    'NotReadOnly',
    'SessionExpired',
  ] as const)('isTransient says that a call which failed with %s may succeed later', (code) => {
    expect(isTransient(new KeeperError(code))).toBe(true)
    expect(isTransient(new KeeperError(code, { outcomeUnknown: true }))).toBe(true)
  })

  test.each(['NoNode', 'BadVersion', 'NoAuth', 'AuthFailed', 'Closed', 'Unimplemented', 'ReconfigInProgress'] as const)(
    'isTransient says that a call which failed with %s fails again',
    (code) => {
      expect(isTransient(new KeeperError(code))).toBe(false)
    },
  )

  test('isTransient counts a connect that found no server, and no other error', () => {
    expect(isTransient(new ConnectError([], 1_000))).toBe(true)
    for (const error of [
      new TypeError('wrong'),
      new DOMException('enough', 'AbortError'),
      undefined,
      'ConnectionLoss',
    ]) {
      expect(isTransient(error)).toBe(false)
    }
  })
})
