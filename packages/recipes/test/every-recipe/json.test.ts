// What programs log of locks: `JSON.stringify` throws at a bigint, and makes {} of an error.
import { expect, test } from 'vitest'
import { Lock, LostError, WaitTimeoutError, RecipeError, type ZooKeeper } from '../../src/index.ts'
import { outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

const PATH = '/locks/report'
const parsed = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const hex = (value: bigint) => `0x${value.toString(16)}`

test('errors in JSON have all that they say', async () => {
  const scene = new Scene()
  const [one, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
  const held = await scene.done(new Lock(one, PATH, { label: 'host-1' }).acquire())
  const waiting = outcome(new Lock(other, PATH).acquire({ timeout: 1_000 }))
  await scene.world.advance(1_000)
  const error = waiting.error as WaitTimeoutError
  expect(error).toBeInstanceOf(WaitTimeoutError)
  const { message, blocker } = error
  expect(parsed(error)).toEqual({
    name: 'WaitTimeoutError',
    message,
    code: 'LockHeld',
    path: PATH,
    timeout: 1_000,
    position: 1,
    ahead: [held.path],
    blocker: { ...blocker, sessionId: hex(one.session.id) },
  })
  const lost = new LostError('NodeGone', held.path, 'it is gone', { result: 5 })
  expect(parsed(lost)).toEqual({
    name: 'LostError',
    message: 'it is gone',
    code: 'NodeGone',
    path: held.path,
  })
  // What the body of a `run` resolved with may be anything.
  expect(lost.result).toBe(5)
  const differing = new RecipeError('PermitsDiffer', PATH, 'differ', { permits: 3, stored: 5 })
  expect(parsed(differing)).toEqual({
    name: 'RecipeError',
    message: 'differ',
    code: 'PermitsDiffer',
    path: PATH,
    permits: 3,
    stored: 5,
  })
})

test('contenders, and what is held, are text where JSON knows no number', async () => {
  const scene = new Scene()
  const zk = await scene.client()
  const lock = new Lock(zk, PATH, { label: 'host-1' })
  const held = await scene.done(lock.acquire())
  const [contender] = await scene.done(lock.contenders())
  const fencingToken = hex(held.fencingToken)
  expect(parsed(contender)).toEqual({ ...contender, sessionId: hex(zk.session.id), fencingToken })
  expect(parsed(held)).toEqual({ path: held.path, kind: 'lock', fencingToken, isHeld: true })
})
