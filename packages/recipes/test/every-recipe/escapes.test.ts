// Names, labels and data that other programs have written are shown escaped: see client/test/escapes.test.ts.
import type { Logger, ZooKeeper } from '@zk/client'
import { expect, test } from 'vitest'
import { WaitTimeoutError, Lock, LostError, ServiceDiscovery, RecipeError } from '../../src/index.ts'
import { Scene } from '../support/scene.ts'

const EVIL = 'evil\u001b[2J\u009b2J\u202e\u2028\nFORGED'
/** What a path may have of it. */
const TURNED = 'evil\u202e\u2028'
const UNPRINTABLE = /[\p{Cc}\p{Bidi_C}\p{Zl}\p{Zp}]/u

function expectEscaped(error: Error): void {
  expect(error.message).toContain('evil\\u')
  expect(error.message).not.toMatch(UNPRINTABLE)
  // Of the parts of a stack, only its lines are not of this program.
  expect(error.stack!.replaceAll('\n', '')).not.toMatch(UNPRINTABLE)
}

test('WaitTimeoutError and log lines show a foreign label and path escaped, and fields have them as they are', async () => {
  const lines: string[] = []
  const logger: Logger = (_, message, { err, ...fields }) =>
    void lines.push(message, JSON.stringify(fields), String(err))
  const scene = new Scene()
  const [holder, zk] = (await scene.clients(2, { logger })) as [ZooKeeper, ZooKeeper]
  const path = `/locks/${TURNED}`
  const held = await scene.done(new Lock(holder, path, { label: EVIL }).acquire())
  const waiting = await scene.start(new Lock(zk, path).acquire({ timeout: 1_000 }))
  await scene.world.advance(1_000)
  const error = waiting.error as WaitTimeoutError
  expect(error.blocker).toMatchObject({ label: EVIL, path: held.path })
  expect(held.path).toContain(TURNED)
  expectEscaped(error)
  expect(lines.join('')).toContain(String.raw`evil\\u202e`)
  for (const line of lines) expect(line).not.toMatch(UNPRINTABLE)
})

test('ServiceDiscovery reports an instance that cannot be read without the controls that its data has', async () => {
  const errors: unknown[] = []
  const logger: Logger = (_, message, { err }) => void (message === 'zk: instance cannot be read' && errors.push(err))
  const scene = new Scene()
  const zk = await scene.client({ logger })
  await scene.done(zk.ensurePath('/services/web'))
  const texts = [`{"name":"evil\u202e`, `{ "name": "web", "id": "1", "address": { "evil": "\u009b\u202e" } }`]
  for (const [index, text] of texts.entries()) await scene.done(zk.create(`/services/web/${index}`, text))
  await scene.done(new ServiceDiscovery(zk, '/services').instances('web'))
  expect(errors).toHaveLength(2)
  for (const error of errors as Error[])
    expect(error.stack!.replaceAll('\n', '') + error.message).not.toMatch(UNPRINTABLE)
})

test.each([
  new RecipeError('WouldDeadlock', '/a', EVIL),
  new WaitTimeoutError('BarrierSet', '/a', EVIL, { timeout: 1 }),
  new LostError('NodeGone', '/a', EVIL),
])('$name shows what others have written escaped', (error) => expectEscaped(error))
