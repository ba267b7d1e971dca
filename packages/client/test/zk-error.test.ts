import { inspect } from 'node:util'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import * as client from '../src/index.ts'
import { ConnectError, KeeperError, ZkError } from '../src/index.ts'

class ImportError extends KeeperError {
  readonly line: number

  constructor(line: number) {
    super('BadArguments', { path: '/import' })
    this.line = line
  }
}

class MissingName extends ZkError {
  constructor() {
    super('NameMissing', 'no name', { path: '/names', cause: 'input' })
  }
}

describe('ZkError', () => {
  test('ZkError is the base of every error, with a code and a path', () => {
    const [keeper, connect, mine] = [
      new KeeperError('NoNode', { path: '/a' }),
      new ConnectError([], 1),
      new MissingName(),
    ]
    for (const error of [keeper, connect, mine]) {
      expect(error).toBeInstanceOf(Error)
      expect(error).toBeInstanceOf(ZkError)
      expect(ZkError.is(error)).toBe(true)
    }
    expect([keeper.code, connect.code, mine.code]).toEqual(['NoNode', 'NoServerReached', 'NameMissing'])
    expect([keeper.path, connect.path, mine.path]).toEqual(['/a', undefined, '/names'])
    expect([ZkError.is(keeper, 'NoServerReached', 'NoNode'), ZkError.is(connect, 'NoNode')]).toEqual([true, false])
    expect([mine.message, mine.cause, 'cause' in keeper]).toEqual(['no name', 'input', false])
  })

  test('ZkError begins its stack with the name of the class', () => {
    for (const error of [new KeeperError('NoNode'), new ConnectError([], 1)]) {
      expect(error.stack!.split('\n')[0]).toBe(`${error.name}: ${error.message}`)
      expect(inspect(error)).toMatch(new RegExp(`^${error.name}: `))
    }
    expect(inspect(new ImportError(5))).toMatch(/^ImportError/)
  })

  test('ZkError has all its fields in JSON, those of a derived class included', () => {
    const parsed = (error: Error): unknown => JSON.parse(JSON.stringify(error))
    const { message } = new KeeperError('NoNode', { sessionId: 0x1234n })
    expect(parsed(new KeeperError('NoNode', { sessionId: 0x1234n }))).toEqual({
      name: 'KeeperError',
      message,
      code: 'NoNode',
      number: -101,
      outcomeUnknown: false,
      sessionId: '0x1234',
    })
    expect(parsed(new ImportError(5))).toMatchObject({
      name: 'KeeperError',
      code: 'BadArguments',
      path: '/import',
      line: 5,
    })
    expect(parsed(new MissingName())).toEqual({
      name: 'ZkError',
      message: 'no name',
      code: 'NameMissing',
      path: '/names',
    })
  })

  test('ZkError goes to a structured log with its class, code, path and stack', () => {
    const lines: unknown[] = []
    const stream = new Writable({
      write(line, _, done) {
        lines.push(JSON.parse(String(line)))
        done()
      },
    })
    pino(stream).error({ err: new KeeperError('NoNode', { path: '/a', cause: new Error('why') }) }, 'failed')
    const stack = expect.stringMatching(/^KeeperError: .*\n +at .*\ncaused by: Error: why/s) as string
    expect(lines).toMatchObject([{ msg: 'failed', err: { type: 'KeeperError', code: 'NoNode', path: '/a', stack } }])
    const [line] = lines as [{ err: object }]
    expect(Object.keys(line.err).filter((name) => name.includes('zk'))).toEqual([])
  })

  test.each([undefined, null, 'NoNode', 5, {}, new Error('NoNode'), { code: 'NoNode' }, () => {}])(
    'ZkError.is and instanceof are false for %s',
    (value) => {
      for (const each of [ZkError, KeeperError, ConnectError]) {
        expect(each.is(value)).toBe(false)
        expect((value as unknown) instanceof each).toBe(false)
      }
    },
  )
})

describe('A class that a user derives', () => {
  test('A derived class knows its own errors only', () => {
    const [own, other] = [new ImportError(5), new KeeperError('BadArguments')]
    expect([own instanceof ImportError, other instanceof ImportError]).toEqual([true, false])
    expect([own instanceof KeeperError, own instanceof ZkError, own instanceof ConnectError]).toEqual([
      true,
      true,
      false,
    ])
    expect([ImportError.is(own, 'BadArguments'), ImportError.is(own, 'NoNode')]).toEqual([true, false])
    expect([ImportError.is(other), MissingName.is(other), MissingName.is(new MissingName())]).toEqual([
      false,
      false,
      true,
    ])
  })

  test('A derived class may set its own name', () => {
    class Named extends KeeperError {
      override name = 'Named'
    }
    expect([new Named('NoNode').name, String(new Named('NoNode'))]).toEqual([
      'Named',
      expect.stringMatching(/^Named: /),
    ])
    expect(new Named('NoNode')).toBeInstanceOf(KeeperError)
  })
})

describe('Two copies of the package', () => {
  let copy: typeof client

  beforeAll(async () => {
    vi.resetModules()
    copy = await import('../src/index.ts')
  })

  test('instanceof and `is` know the errors of the other copy', () => {
    expect(copy.KeeperError).not.toBe(KeeperError)
    for (const [one, other] of [
      [client, copy],
      [copy, client],
    ] as const) {
      const [keeper, connect] = [new one.KeeperError('NoNode'), new one.ConnectError([], 1)]
      expect([keeper, connect].map((error) => error instanceof other.KeeperError)).toEqual([true, false])
      expect([keeper, connect].map((error) => error instanceof other.ConnectError)).toEqual([false, true])
      expect([keeper, connect].map((error) => error instanceof other.ZkError)).toEqual([true, true])
      expect([keeper, connect].map((error) => other.KeeperError.is(error, 'NoNode'))).toEqual([true, false])
      expect([keeper, connect].map((error) => other.ConnectError.is(error))).toEqual([false, true])
      expect([keeper, connect].map((error) => other.ZkError.is(error, 'NoServerReached'))).toEqual([false, true])
      expect(other.isTransient(connect)).toBe(true)
    }
  })

  test('a class that a user derives from one copy is known to the other by its base', () => {
    expect(new ImportError(5)).toBeInstanceOf(copy.KeeperError)
    expect(copy.KeeperError.is(new ImportError(5), 'BadArguments')).toBe(true)
    expect(new copy.KeeperError('BadArguments')).not.toBeInstanceOf(ImportError)
    expect(ImportError.is(new copy.KeeperError('BadArguments'))).toBe(false)
  })
})
