import dns from 'node:dns'
import { syncBuiltinESMExports } from 'node:module'
import { expect, onTestFinished, test } from 'vitest'
import { resolve } from '../src/runtime/resolver.ts'

const resolved = (host: string) =>
  new Promise<readonly string[] | Error>((settle) => resolve(host, { found: settle, failed: settle }))

test.each(['127.0.0.1', '::1', 'fd00::1'])('resolve gives %s for itself', async (address) => {
  expect(await resolved(address)).toEqual([address])
})

test('resolve finds this machine by its name', async () => {
  const addresses = await resolved('localhost')
  expect(addresses).toSatisfy((found: string[]) => found.some((each) => each === '127.0.0.1' || each === '::1'))
})

test('resolve says why a name has no address', async () => {
  expect(await resolved('no-such-name.invalid')).toMatchObject({
    message: expect.stringContaining('no-such-name.invalid'),
  })
})

type Answer = (error: unknown, addresses?: unknown) => void

test.each([
  ['one address alone', (answer: Answer) => answer(null, '127.0.0.1'), ['127.0.0.1']],
  ['undefined for no error', (answer: Answer) => answer(undefined, [{ address: '127.0.0.1' }]), ['127.0.0.1']],
  ['a string for an error', (answer: Answer) => answer('ENOTFOUND'), new Error('ENOTFOUND')],
])('resolve takes %s from a replaced dns.lookup', async (_, give, expected) => {
  const { lookup } = dns
  onTestFinished(() => {
    Object.assign(dns, { lookup })
    syncBuiltinESMExports()
  })
  Object.assign(dns, { lookup: (_host: string, _options: object, answer: Answer) => setImmediate(() => give(answer)) })
  syncBuiltinESMExports()
  expect(await resolved('zk1')).toEqual(expected)
})
