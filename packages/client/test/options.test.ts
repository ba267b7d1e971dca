import { JUTE_MAXBUFFER } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { OPEN_ACL_UNSAFE } from '../src/index.ts'
import { checkCallOptions } from '../src/operations/call-options.ts'
import { checkAuth, checkOptions } from '../src/zookeeper/options.ts'
import { systemRuntime } from '../src/runtime/system-runtime.ts'
import { thrownBy } from './support/thrown.ts'

/** Options as plain JavaScript may give them. */
const check = (options: Record<string, unknown>) => checkOptions(options)

const rounds = {
  size: 1,
  next: () => ({ host: 'zk1', port: 2181 }),
  connected: () => {},
  update: () => false,
}

const advanced = [
  'hostProvider',
  'name',
  'localExpiry',
  'maxRequestSize',
  'maxResponseSize',
  'maxWaiting',
  'maxWaitingBytes',
  'maxInFlight',
  'maxInFlightBytes',
  'traceFrames',
]

const undefinedFor = (names: readonly string[]) => Object.fromEntries(names.map((name) => [name, undefined]))

const placed = (name: string, value: unknown) =>
  advanced.includes(name) ? { advanced: { [name]: value } } : { [name]: value }

describe('checkOptions', () => {
  test('checkOptions fills in every default', () => {
    expect(checkOptions({})).toEqual({
      sessionTimeout: 12_000,
      connectTimeout: 10_000,
      auth: [],
      renewSession: true,
      readOnly: false,
      maxRequestSize: JUTE_MAXBUFFER,
      maxResponseSize: 4 * 1024 * 1024,
      maxWaiting: 65_536,
      maxWaitingBytes: 64 * 1024 * 1024,
      maxInFlight: 1_000,
      maxInFlightBytes: 16 * 1024 * 1024,
      traceFrames: false,
      runtime: systemRuntime,
    })
  })

  test('checkOptions takes undefined for an option that is not given', () => {
    const names = ['sessionTimeout', 'connectTimeout', 'auth', 'tls', 'logger', 'signal', 'runtime', 'advanced']
    expect(check(undefinedFor(names))).toEqual(checkOptions({}))
    expect(check({ advanced: undefinedFor(advanced) })).toEqual(checkOptions({}))
  })

  test('checkOptions keeps what it is given, and leaves the signal to connect', () => {
    const given = {
      sessionTimeout: 1,
      connectTimeout: 2 ** 31 - 1,
      auth: [{ scheme: 'digest', auth: 'a:b' }],
      renewSession: false,
      readOnly: true,
      session: { id: 1n, passwd: new Uint8Array(16) },
      logger: () => {},
      runtime: { ...systemRuntime },
    }
    const limits = {
      hostProvider: () => rounds,
      localExpiry: 1,
      maxRequestSize: 1_024,
      maxResponseSize: 2 ** 31 - 1,
      maxWaiting: 1,
      maxWaitingBytes: 1_024,
      maxInFlight: 2 ** 31 - 1,
      maxInFlightBytes: 2 ** 31 - 1,
      traceFrames: true,
    }
    const { signal } = new AbortController()
    expect(checkOptions({ ...given, advanced: limits, signal })).toEqual({ ...given, ...limits })
  })

  test.each([
    ['sessionTimeout', 0],
    ['sessionTimeout', 2 ** 31],
    ['sessionTimeout', 1.5],
    ['sessionTimeout', NaN],
    ['sessionTimeout', null],
    ['connectTimeout', 0],
    ['connectTimeout', Infinity],
    ['maxRequestSize', 1_023],
    ['maxRequestSize', 2 ** 31],
    ['maxResponseSize', 0],
    ['maxResponseSize', -1],
    ['maxWaiting', 0],
    ['maxWaitingBytes', 1_023],
    ['maxInFlight', Infinity],
    ['localExpiry', 0.99],
    ['localExpiry', NaN],
    ['localExpiry', Infinity],
  ])('checkOptions refuses %s: %j with a RangeError that names it', (name, value) => {
    const error = thrownBy(() => check(placed(name, value)))
    expect(error).toBeInstanceOf(RangeError)
    expect(error).toHaveProperty(
      'message',
      expect.stringMatching(new RegExp(`^${name} must be .*, not ${String(value)}$`)),
    )
  })

  test.each(['sessionTimeout', 'connectTimeout', 'maxInFlightBytes', 'localExpiry'])(
    'checkOptions says of %s that it was given as text: environment variables are',
    (name) => {
      const error = thrownBy(() => check(placed(name, '4000')))
      expect(error).toBeInstanceOf(RangeError)
      expect(error).toHaveProperty('message', expect.stringMatching(`^${name} must be .*, not the string "4000"$`))
    },
  )

  test.each(advanced)('checkOptions says that %s is one of advanced', (name) => {
    const error = thrownBy(() => check({ [name]: 1_024 }))
    expect(error).toHaveProperty(
      'message',
      `connect: the option ${name} is one of advanced: { advanced: { ${name}: … } }`,
    )
  })

  test('checkOptions names the option nearest to an unknown one of advanced', () => {
    expect(() => check({ advanced: { maxInflight: 3 } })).toThrow(/connect: advanced.*maxInFlight/)
  })

  test.each([
    ['auth', 'digest'],
    ['auth', { scheme: 'digest', auth: 'a:b' }],
    ['auth', null],
    ['auth', [null]],
    ['auth', [{ auth: 'a:b' }]],
    ['auth', [{ scheme: '', auth: 'a:b' }]],
    ['auth', [{ scheme: 'digest' }]],
    ['auth', [{ scheme: 'digest', auth: [97] }]],
    ['renewSession', 'yes'],
    ['renewSession', 0],
    ['name', ''],
    ['name', 7],
    ['traceFrames', 1],
    ['logger', null],
    ['logger', {}],
    ['readOnly', 1],
    ['session', {}],
    ['session', null],
    ['session', { id: 5, passwd: new Uint8Array(16) }],
    ['hostProvider', {}],
    ['signal', {}],
    ['signal', null],
    ['runtime', {}],
    ['runtime', null],
  ])('checkOptions refuses %s: %j with a TypeError that names it', (name, value) => {
    const error = thrownBy(() => check(placed(name, value)))
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toHaveProperty('message', expect.stringContaining(name))
  })

  test('checkOptions refuses a session without an id or a password, and does not say which it was', () => {
    expect(() => check({ session: { id: 0n, passwd: new Uint8Array(16) } })).toThrow(/^session\.id must be/)
    const error = thrownBy(() => check({ session: { id: 5n, passwd: 'secret' } }))
    expect(error).toHaveProperty(
      'message',
      expect.stringContaining('session.passwd must be a Uint8Array: the result of zk.detach()'),
    )
  })

  test('checkOptions refuses a session whose id no server can have given: later no error could be reported', () => {
    for (const id of [0xff00_0000_0000_0001n, 2n ** 63n, -(2n ** 63n) - 1n]) {
      const error = thrownBy(() => check({ session: { id, passwd: new Uint8Array(16) } }))
      expect(error).toBeInstanceOf(RangeError)
      expect(error).toHaveProperty('message', expect.stringContaining(`session.id must be a signed number`))
    }
    check({ session: { id: -(2n ** 63n), passwd: new Uint8Array(16) } })
  })

  test('checkOptions refuses a session with a lastZxid that is no zxid', () => {
    const session = { id: 5n, passwd: new Uint8Array(16) }
    for (const lastZxid of [-1n, 2n ** 63n]) {
      const error = thrownBy(() => check({ session: { ...session, lastZxid } }))
      expect(error).toBeInstanceOf(RangeError)
      expect(error).toHaveProperty('message', expect.stringContaining(`session.lastZxid must be`))
    }
    expect(thrownBy(() => check({ session: { ...session, lastZxid: 7 } }))).toBeInstanceOf(TypeError)
    for (const lastZxid of [undefined, 0n, 2n ** 63n - 1n]) check({ session: { ...session, lastZxid } })
  })

  test('checkOptions refuses a session with a shortestTimeout that no session can have had', () => {
    const session = { id: 5n, passwd: new Uint8Array(16) }
    for (const shortestTimeout of [-1, 0.5, 2 ** 31, NaN, '1000']) {
      const error = thrownBy(() => check({ session: { ...session, shortestTimeout } }))
      expect(error).toBeInstanceOf(RangeError)
      expect(error).toHaveProperty('message', expect.stringContaining('session.shortestTimeout must be an integer'))
    }
    for (const shortestTimeout of [undefined, 0, 1, 2 ** 31 - 1]) check({ session: { ...session, shortestTimeout } })
  })

  test('checkOptions refuses a session with a lastXid that no request can have had', () => {
    const session = { id: 5n, passwd: new Uint8Array(16) }
    for (const lastXid of [-1, 0.5, 2 ** 31, NaN, '7']) {
      const error = thrownBy(() => check({ session: { ...session, lastXid } }))
      expect(error).toBeInstanceOf(RangeError)
      expect(error).toHaveProperty('message', expect.stringContaining('session.lastXid must be an integer'))
    }
    for (const lastXid of [undefined, 0, 1, 2 ** 31 - 1]) check({ session: { ...session, lastXid } })
  })

  test('checkOptions states what a runtime lacks', () => {
    const runtime = { ...systemRuntime, uuid: undefined, dial: 5 }
    expect(() => check({ runtime })).toThrow('runtime must be a Runtime; it has no uuid, dial')
  })

  test('checkOptions takes a runtime that is an instance of a class', () => {
    class Clockwork {
      now() {}
      wallNow() {}
      setTimer() {}
      random() {}
      uuid() {}
      dial() {}
    }
    const runtime = new Clockwork()
    expect(check({ runtime }).runtime).toBe(runtime)
  })

  test('checkOptions refuses an option it does not know, and says which it does', () => {
    const error = thrownBy(() => check({ sessionTimeOut: 1, retries: 3 }))
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toHaveProperty(
      'message',
      expect.stringMatching(
        /^connect: unknown option sessionTimeOut \(did you mean sessionTimeout\?\), retries; known are .*sessionTimeout/,
      ),
    )
  })
})

describe('checkAuth', () => {
  test('checkAuth takes text and bytes', () => {
    checkAuth('digest', 'alice:secret')
    checkAuth('x', new Uint8Array(0))
    checkAuth('digest', Buffer.from('alice:secret'))
  })

  test('checkAuth never says what it was given', () => {
    for (const auth of [['alice:secret'], { password: 'secret' }]) {
      expect(thrownBy(() => checkAuth('digest', auth))).toHaveProperty(
        'message',
        'auth must be a string or a Uint8Array',
      )
    }
  })
})

describe('checkCallOptions', () => {
  test.each([undefined, 0, 0.5, 1, Infinity])('checkCallOptions takes a timeout of %s', (timeout) => {
    expect(checkCallOptions('getData', { timeout })).toBeUndefined()
  })

  test.each([
    [-1, '-1'],
    [NaN, 'NaN'],
    ['5', 'the string "5"'],
    [null, 'null'],
  ])('checkCallOptions refuses a timeout of %s', (timeout, shown) => {
    const error = thrownBy(() => checkCallOptions('getData', { timeout: timeout as number }))
    expect(error).toBeInstanceOf(RangeError)
    expect(error).toHaveProperty('message', `timeout must be a number of ms, 0 or more, not ${shown}`)
  })

  test('checkCallOptions refuses an array, which older clients take for ACLs, and says what to write', () => {
    const known = ['mode', 'acl']
    const error = thrownBy(() => checkCallOptions('create', OPEN_ACL_UNSAFE as object, known, "{ mode: 'EPHEMERAL' }"))
    expect(error).toEqual(
      new TypeError(
        "create: options must be an object such as { mode: 'EPHEMERAL' }, not an array; known are mode, acl",
      ),
    )
  })
})
