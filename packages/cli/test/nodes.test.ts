// Parts of the commands for nodes that need no server.
import { expect, test } from 'vitest'
import { InputError } from '../src/command/input.ts'
import { UsageError } from '../src/command/options.ts'
import { aclOf, aclTexts } from '../src/nodes/acl.ts'
import { ahead } from '../src/nodes/ahead.ts'
import { partIn } from '../src/nodes/multi.ts'

test.each([
  [['world:anyone:r'], ['world:anyone:r']],
  [
    ['world:anyone:r,digest:u:bjkZ9W+M82HUZ9xb8/Oy4cmJGfg=:cdrwa'],
    ['world:anyone:r', 'digest:u:bjkZ9W+M82HUZ9xb8/Oy4cmJGfg=:cdrwa'],
  ],
  [
    ['x509:CN=app,O=shop:rw', 'auth::awrdc'],
    ['x509:CN=app,O=shop:rw', 'auth::cdrwa'],
  ],
  [['ip:fd00::1/64:r'], ['ip:fd00::1/64:r']],
])('aclOf reads %j', (words, texts) => {
  expect(aclTexts(aclOf(words))).toEqual(texts)
})

test.each(['', 'world', 'world:anyone', 'world:anyone:x', 'world:anyone:', 'digest:u:secret', 'digest:u:secret:r'])(
  'aclOf refuses %j, and does not repeat it',
  (word) => {
    let message = ''
    try {
      aclOf([word])
    } catch (error) {
      expect(error).toBeInstanceOf(UsageError)
      message = (error as Error).message
    }
    expect(message).not.toBe('')
    expect(message).not.toContain('secret')
  },
)

test('ahead starts items ahead of the loop, and yields in their order, and the error in its place', async () => {
  let started = 0
  async function* items() {
    for (let item = 0; item < 1_000; item++) yield item
  }
  const results = ahead(
    items(),
    async (item) => {
      started++
      await new Promise(setImmediate)
      if (item === 200) throw new Error('item 200')
      return item
    },
    () => 100_000,
  )
  const seen: number[] = []
  let most = 0
  const loop = (async () => {
    for await (const item of results) {
      seen.push(item)
      most = Math.max(most, started - seen.length)
    }
  })()
  await expect(loop).rejects.toThrow('item 200')
  expect(seen).toEqual(Array.from({ length: 200 }, (_, index) => index))
  // Their bytes are limited, too.
  expect(most).toBe(40)
})

test('ahead yields a result before the next item is there, and every result before an error of the items', async () => {
  let go = (): void => {}
  async function* items() {
    yield 1
    await new Promise<void>((resolve) => (go = resolve))
    yield 2
    yield 3
    throw new Error('broken off')
  }
  const results = ahead(
    items(),
    async (item) => item,
    () => 1,
  )
  expect(await results.next()).toMatchObject({ value: 1 })
  go()
  expect(await results.next()).toMatchObject({ value: 2 })
  expect(await results.next()).toMatchObject({ value: 3 })
  await expect(results.next()).rejects.toThrow('broken off')
})

test.each([
  ['{"create":{"path":"/a","text":"x","acl":["world:anyone:r"],"mode":"ttl","ttl":5}}', 'create'],
  ['{"create":{"path":"/a/","mode":"sequential"}}', 'create'],
  ['{"set":{"path":"/a","base64":"AA==","version":-1}}', 'set'],
  ['{"delete":{"path":"/a"}}', 'delete'],
  ['{"check":{"path":"/a","version":0}}', 'check'],
])('partIn reads %s', (text, name) => {
  expect(partIn({ place: 'line 1', text })).toMatchObject({ name, op: { kind: 'write' } })
})

test.each([
  ['{"put":{"path":"/a"}}', 'one of create, set, delete, check'],
  ['{"set":{"path":"/a","text":""},"delete":{"path":"/b"}}', 'one of create, set, delete, check'],
  ['{"constructor":{"path":"/a"}}', 'one of create, set, delete, check'],
  ['{"set":{"path":"/a"}}', 'set needs text or base64'],
  ['{"set":{"path":"/a","text":"","versoin":1}}', 'set has no "versoin"'],
  ['{"delete":{"path":"/a","version":"1"}}', 'version must be a whole number'],
  ['{"create":{"path":"/a","mode":"ephemeral"}}', 'mode is persistent, '],
  ['{"create":{"path":"/a","ttl":5}}', 'ttl'],
  ['{"create":{"path":"/a","acl":[]}}', 'acl must be a list'],
  ['{"check":{}}', 'has no path'],
])('partIn refuses %s', (text, message) => {
  expect(() => partIn({ place: 'line 7', text })).toThrow(InputError)
  expect(() => partIn({ place: 'line 7', text })).toThrow(message)
})
