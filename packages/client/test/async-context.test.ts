// Work that one caller starts serves other callers too: it does not run in that caller's async context.
import { AsyncLocalStorage } from 'node:async_hooks'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { systemRuntime } from '../src/index.ts'

const contexts = new AsyncLocalStorage<string>()

describe('systemRuntime', () => {
  test("systemRuntime.setTimer calls in no caller's async context", async () => {
    const seen = await new Promise((resolve) => {
      contexts.run('of the caller', () => systemRuntime.setTimer(0, () => resolve(contexts.getStore())))
    })
    expect(seen).toBeUndefined()
  })

  test("systemRuntime.dial reports in no caller's async context", async () => {
    const server = createServer((socket) => socket.end('hello'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    const seen: [string, string | undefined][] = []
    const note = (what: string) => seen.push([what, contexts.getStore()])
    await new Promise<void>((resolve) => {
      contexts.run('of the caller', () =>
        systemRuntime.dial(
          { host: '127.0.0.1', port },
          {
            opened: () => note('opened'),
            received: () => note('received'),
            drained: () => note('drained'),
            lost: () => {
              note('lost')
              resolve()
            },
          },
        ),
      )
    })
    server.close()
    expect(seen).toEqual([
      ['opened', undefined],
      ['received', undefined],
      ['lost', undefined],
    ])
  })
})
