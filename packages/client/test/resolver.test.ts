import { expect, test } from 'vitest'
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
