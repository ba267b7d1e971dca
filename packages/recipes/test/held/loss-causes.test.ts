// The cause that a loss reports, whatever trouble the hold had outlasted before: none of that is reported again.
import { expect, test } from 'vitest'
import {
  type Held,
  type HeldWhile,
  Lock,
  type LostError,
  type LostErrorCode,
  op,
  type ZooKeeper,
} from '../../src/index.ts'
import { Scene } from '../support/scene.ts'

const PATH = '/locks/report'
const T = 6_000

interface Course {
  readonly scene: Scene
  readonly zk: ZooKeeper
  readonly held: Held
}

type Act = (course: Course) => unknown

/** It passes, and what is held is held on. */
const troubles: Record<string, Act> = {
  'no trouble': () => {},
  'a lost connection': ({ scene, zk }) => scene.cut(zk),
  'two lost connections': async ({ scene, zk }) => {
    scene.cut(zk)
    await scene.world.advance(T / 2)
    scene.cut(zk)
  },
  'a round that fails': ({ scene }) => scene.ensemble.faults.fail({ op: 'sync', code: 'SystemError' }),
  'checks that fail': ({ scene }) => scene.ensemble.faults.fail({ op: 'multi', code: 'SystemError' }),
  'a busy server': ({ scene }) => scene.ensemble.faults.fail({ op: ['sync', 'multi'], code: 'ThrottledOp', times: 2 }),
  'a refused transaction': async ({ scene, held }) => {
    await scene.start(held.multi([op.delete('/missing')]))
  },
  'a lost connection behind which a round fails': ({ scene, zk }) => {
    scene.cut(zk)
    scene.ensemble.faults.fail({ op: 'sync', code: 'SystemError' })
  },
}

interface Way {
  readonly reason: LostErrorCode
  readonly heldWhile?: HeldWhile
  readonly lose: Act
  /** What it says of its cause; undefined where there is none. */
  readonly cause: object | undefined
}

const ways: Record<string, Way> = {
  'is released': { reason: 'Released', lose: ({ held }) => held.release(), cause: undefined },
  'stands still with its process': {
    reason: 'LeaseLost',
    lose: ({ scene }) => scene.world.stall(T),
    cause: undefined,
  },
  'cannot be confirmed for lack of a connection': {
    reason: 'LeaseLost',
    lose: ({ scene, zk }) => {
      scene.refuse()
      scene.cut(zk)
    },
    cause: { message: 'read ECONNRESET' },
  },
  'may not be read any more': {
    reason: 'Refused',
    lose: async ({ scene, zk, held }) =>
      scene.done(zk.setACL(held.path, [{ perms: 16, id: { scheme: 'world', id: 'anyone' } }])),
    cause: { code: 'NoAuth' },
  },
  'is confirmed by nothing but errors': {
    reason: 'LeaseLost',
    lose: ({ scene }) => scene.ensemble.faults.fail({ op: 'sync', code: 'APIError', times: Infinity }),
    cause: { code: 'APIError', op: 'sync' },
  },
  'loses its connection, held while connected': {
    reason: 'Disconnected',
    heldWhile: 'connected',
    lose: ({ scene, zk }) => scene.cut(zk),
    cause: { message: 'read ECONNRESET' },
  },
  'loses its session': {
    reason: 'SessionExpired',
    heldWhile: 'sessionAlive',
    // The handshake reports it. On an open connection the event of the deleted node comes first.
    lose: async ({ scene, zk }) => {
      scene.refuse()
      scene.cut(zk)
      scene.expire(zk)
      await scene.world.settle()
      scene.accept()
    },
    cause: { code: 'SessionExpired' },
  },
  'is closed with its client': { reason: 'Closed', lose: ({ zk }) => zk.close(), cause: { code: 'Closed' } },
  'sees its node deleted': {
    reason: 'NodeGone',
    lose: ({ scene, held }) => scene.ensemble.nodes.delete(held.path),
    cause: undefined,
  },
  'learns from a transaction that its node is deleted': {
    reason: 'NodeGone',
    lose: ({ scene, held }) => {
      scene.ensemble.faults.loseReply({ op: 'event', connection: 'open' })
      scene.ensemble.nodes.delete(held.path)
      return held.multi([op.check('/')])
    },
    cause: { code: 'NoNode', index: 0 },
  },
  'learns from a round that its node is deleted': {
    reason: 'NodeGone',
    lose: ({ scene, held }) => {
      scene.ensemble.faults.loseReply({ op: 'event', connection: 'open' })
      scene.ensemble.nodes.delete(held.path)
    },
    cause: { code: 'NoNode' },
  },
}

const table = Object.entries(ways).flatMap(([way, { heldWhile }]) =>
  Object.keys(troubles)
    .filter((trouble) => heldWhile !== 'connected' || !trouble.includes('connection'))
    .map((trouble) => [way, trouble] as const),
)

test.each(table)('Held that %s says the cause of that behind %s', async (way, trouble) => {
  const { reason, heldWhile = 'confirmed', lose, cause } = ways[way]!
  const scene = new Scene()
  const zk = await scene.client({ sessionTimeout: T })
  const held = await scene.done(new Lock(zk, PATH, { heldWhile }).acquire())
  const course = { scene, zk, held }
  await scene.world.advance(T)
  const connections = new Set([zk.session.connection])
  await troubles[trouble]!(course)
  for (let time = 0; time < 3 * T; time += 10) {
    await scene.world.advance(10)
    connections.add(zk.session.connection)
  }
  expect(held.isHeld()).toBe(true)
  scene.ensemble.faults.clear()
  const outlasted = [...connections].flatMap((each) => (each?.signal.aborted ? [each.signal.reason as unknown] : []))
  expect(outlasted.length > 0).toBe(trouble.includes('connection'))
  await scene.world.advance(T)
  void Promise.resolve(lose(course)).catch(() => {})
  await scene.world.settle()
  await scene.world.advance(2 * T)
  const notified: unknown = held.signal.reason
  expect(notified).toMatchObject({ code: reason, path: held.path })
  const { cause: found } = notified as LostError
  if (cause === undefined) expect(found).toBeUndefined()
  else expect(found).toMatchObject(cause)
  // That of `throwIfLost` has the same cause. A `run` rejects with such a one.
  const thrown = thrownBy(() => held.throwIfLost()) as LostError
  expect([thrown.code, thrown.path, thrown.cause]).toEqual([reason, held.path, found])
  // Another one of the same kind.
  expect(outlasted).not.toContain(found)
})

function thrownBy(call: () => unknown): unknown {
  try {
    return call()
  } catch (error) {
    return error
  }
}
