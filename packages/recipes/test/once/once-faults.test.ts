// once when answers are lost, sessions end and servers lag: the record decides, and no two runs of a period are recorded.
import { describe, expect, test } from 'vitest'
import { type Held, KeeperError, LostError, once, type OnceResult, type ZooKeeper } from '../../src/index.ts'
import { atEveryFrame, atEveryMoment } from '../support/everywhere.ts'
import { eachFault, loseReply, loseRequest } from '../support/faults.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { nothing, Scene, sceneOfTwo, TICK } from '../support/scene.ts'

const PATH = '/jobs/report'
const RECORD = `${PATH}/done`
const T = 4_000
const MUCH = 60_000

const prepared = (members?: number) => sceneOfTwo(members, { sessionTimeout: T })

/** Who has recorded the slot: the label in the record. */
function recordedBy(scene: Scene): string | undefined {
  const node = scene.ensemble.nodes.get(RECORD)
  return node && (JSON.parse(Buffer.from(node.data).toString()) as { label: string }).label
}

/** How often the record was written. */
const versionsOf = (scene: Scene) => (scene.ensemble.nodes.get(RECORD)?.stat.version ?? -1) + 1

function call(zk: ZooKeeper, label: string, timeout = 0): Promise<OnceResult<string>> {
  return once(zk, PATH, { slot: 'a', label, timeout }, () => label)
}

/** A call that resolved with `ran` is recorded, and the only one. A call that rejected is not, unless its error leaves that open. */
function check(
  scene: Scene,
  ...calls: readonly (readonly [label: string, calling: Outcome<OnceResult<string>>])[]
): void {
  expect(versionsOf(scene)).toBeLessThanOrEqual(1)
  const by = recordedBy(scene)
  for (const [label, calling] of calls) {
    if (calling.status === 'fulfilled' && calling.value.ran) expect(by).toBe(label)
    if (calling.status === 'fulfilled' && !calling.value.ran && calling.value.why === 'done') expect(by).toBeDefined()
    const isUnknown = calling.status === 'rejected' && KeeperError.is(calling.error) && calling.error.outcomeUnknown
    if (calling.status === 'rejected' && !isUnknown) expect(by).not.toBe(label)
  }
}

describe('once whose answers are lost', () => {
  const ops = ['create2', 'createContainer', 'getChildren2', 'getData', 'exists', 'multi', 'delete'] as const

  test.each(ops.flatMap((op) => eachFault.map(([name, fault]) => [op, name, fault] as const)))(
    'once runs and records once if its %s meets %s, and another call finds it done (O03)',
    async (op, _, fault) => {
      for (const nth of [1, 2]) {
        const { scene, zk, other } = await prepared()
        fault(scene.ensemble.faults, { op, nth, session: zk.session.id })
        const mine = outcome(call(zk, 'mine'))
        await scene.world.advance(MUCH)
        const theirs = outcome(call(other, 'theirs'))
        await scene.world.advance(MUCH)
        check(scene, ['mine', mine], ['theirs', theirs])
        expect(mine.value).toMatchObject({ ran: true })
        expect(theirs.value).toMatchObject({ ran: false, why: 'done' })
        expect(scene.leftovers()).toEqual(nothing)
      }
    },
  )

  test.each([
    ['before it', loseRequest],
    ['after it', loseReply],
  ])('once whose session moves to a lagging server %s records once (O03)', async (_, fault) => {
    const { scene, zk, other } = await prepared(3)
    const { members, faults } = scene.ensemble
    for (const member of members) if (member.role === 'follower') member.lag(500)
    for (let nth = 1; nth <= 2; nth++) fault(faults, { op: 'multi', nth, session: zk.session.id })
    const mine = outcome(call(zk, 'mine'))
    await scene.world.advance(2_000)
    const theirs = outcome(call(other, 'theirs', MUCH))
    await scene.world.advance(2 * MUCH)
    check(scene, ['mine', mine], ['theirs', theirs])
    expect(recordedBy(scene)).toBeDefined()
  })
})

describe('once whose session ends', () => {
  test('once whose session expires after the body records nothing, and rejects with the result (O04)', async () => {
    const { scene, zk, other } = await prepared()
    const mine = outcome(
      once(zk, PATH, { slot: 'a' }, () => {
        scene.expire(zk)
        return 'result'
      }),
    )
    await scene.world.advance(MUCH)
    expect(LostError.is(mine.error)).toBe(true)
    expect(mine.error).toMatchObject({ result: 'result' })
    expect(recordedBy(scene)).toBeUndefined()
    expect(await scene.done(call(other, 'theirs'))).toMatchObject({ ran: true })
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('once that has lost its lease during the body records nothing, though another host runs (O04)', async () => {
    const { scene, zk, other } = await prepared()
    let end = () => {}
    const ended = new Promise<string>((resolve) => {
      end = () => resolve('late')
    })
    const mine = outcome(once(zk, PATH, { slot: 'a', label: 'mine' }, () => ended))
    await scene.world.settle()
    scene.freeze(zk)
    scene.refuse()
    const theirs = outcome(call(other, 'theirs', MUCH))
    await scene.world.advance(MUCH)
    expect(theirs.value).toMatchObject({ ran: true })
    scene.accept()
    end()
    await scene.world.advance(MUCH)
    expect(mine.error).toMatchObject({ name: 'LostError', result: 'late' })
    expect(recordedBy(scene)).toBe('theirs')
    expect(versionsOf(scene)).toBe(1)
  })

  test.each([
    ['is executed', loseReply, 'mine'],
    ['is not executed', loseRequest, undefined],
  ])(
    'once whose record %s and gets no answer before its session expires reads it afterwards (O04)',
    async (_, fault, by) => {
      const { scene, zk } = await prepared()
      const { session } = zk
      fault(scene.ensemble.faults, { op: 'multi', session: session.id })
      // It reconnects only when the session has expired.
      const mine = outcome(
        once(zk, PATH, { slot: 'a', label: 'mine' }, () => {
          scene.refuse()
          return 'result'
        }),
      )
      await scene.world.advance(T / 2)
      scene.ensemble.sessions.expire(session.id)
      scene.accept()
      await scene.world.advance(MUCH)
      if (by === undefined) expect(mine.error).toMatchObject({ name: 'LostError', result: 'result' })
      else expect(mine.value).toMatchObject({ ran: true, result: 'result' })
      expect(recordedBy(scene)).toBe(by)
      check(scene, ['mine', mine])
    },
  )

  test('once of a session that only the client has given up deletes its node before it reads the record (O04)', async () => {
    const scene = new Scene()
    const zk = await scene.client({ sessionTimeout: 2 * TICK })
    const { session } = zk
    const mine = outcome(
      once(zk, PATH, { slot: 'a', label: 'mine' }, () => {
        scene.freeze(zk, 'replies')
        scene.refuse()
        return 'result'
      }),
    )
    while (zk.session === session) await scene.world.advance(1)
    // The ensemble has the session still, and has executed the transaction.
    expect(recordedBy(scene)).toBe('mine')
    scene.accept()
    await scene.world.advance(MUCH)
    expect(mine.value).toMatchObject({ ran: true, result: 'result' })
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('once whose client is closed before an answer comes says that it does not know (O04)', async () => {
    const { scene, zk } = await prepared()
    loseReply(scene.ensemble.faults, { op: 'multi', session: zk.session.id })
    const mine = outcome(
      once(zk, PATH, { slot: 'a', label: 'mine' }, () => {
        scene.refuse()
        return 'result'
      }),
    )
    await scene.world.advance(100)
    const closing = outcome(zk.close())
    await scene.world.advance(MUCH)
    expect(closing.status).toBe('fulfilled')
    expect(KeeperError.is(mine.error) && mine.error.outcomeUnknown).toBe(true)
  })

  test('once whose record was replaced before it could be read says that it does not know (O04)', async () => {
    const { scene, zk } = await prepared()
    const { session } = zk
    loseReply(scene.ensemble.faults, { op: 'multi', session: session.id })
    const mine = outcome(
      once(zk, PATH, { slot: 'a', label: 'mine' }, () => {
        scene.refuse()
        return 'result'
      }),
    )
    await scene.world.advance(T / 2)
    scene.ensemble.sessions.expire(session.id)
    // As another host would, in the next period.
    scene.ensemble.nodes.setData(RECORD, 'of another period')
    scene.accept()
    await scene.world.advance(MUCH)
    expect(KeeperError.is(mine.error) && mine.error.outcomeUnknown).toBe(true)
  })

  test('once records at most one run, and says so, if its connection is cut at any frame and its session expires (O04)', async () => {
    const played = await atEveryFrame(async (frame) => {
      const { scene, zk, other } = await prepared()
      let wasPending = false
      scene.network.before(frame, () => {
        wasPending = mine.status === 'pending'
        scene.expire(zk)
      })
      const mine = outcome(call(zk, 'mine'))
      await scene.world.settle()
      const theirs = outcome(call(other, 'theirs', MUCH))
      await scene.world.advance(2 * MUCH)
      check(scene, ['mine', mine], ['theirs', theirs])
      expect(recordedBy(scene)).toBeDefined()
      expect(scene.leftovers()).toEqual(nothing)
      return wasPending
    })
    expect(played).toBeGreaterThan(8)
  })
})

test('once that is aborted at any moment runs wholly or not at all, and leaves nothing but its record (O07)', async () => {
  const reason = new Error('changed my mind')
  const played = await atEveryMoment(
    async (moment) => {
      const { scene, zk } = await prepared()
      const abort = new AbortController()
      let runs = 0
      const calling = outcome(once(zk, PATH, { slot: 'a', signal: abort.signal }, () => ++runs))
      let wasPending = false
      scene.world.interrupt(moment, () => {
        wasPending = calling.status === 'pending'
        abort.abort(reason)
      })
      await scene.world.settle()
      if (calling.status === 'rejected') expect([calling.error, runs, versionsOf(scene)]).toEqual([reason, 0, 0])
      else expect([calling.value.ran, runs, versionsOf(scene)]).toEqual([true, 1, 1])
      expect(scene.leftovers()).toEqual(nothing)
      return wasPending
    },
    { stride: 4 },
  )
  expect(played).toBeGreaterThan(10)
})

test('once whose client is closed at any moment records what it says (O07)', async () => {
  const played = await atEveryMoment(
    async (moment) => {
      const { scene, zk } = await prepared()
      const calling = outcome(call(zk, 'mine'))
      let wasPending = false
      scene.world.interrupt(moment, () => {
        wasPending = calling.status === 'pending'
        void zk.close()
      })
      await scene.world.advance(MUCH)
      expect(calling.status).not.toBe('pending')
      check(scene, ['mine', calling])
      expect(scene.ensemble.nodes.ephemerals()).toEqual([])
      return wasPending
    },
    { stride: 4 },
  )
  expect(played).toBeGreaterThan(10)
})

test('once hands on a fencing token that rises with every run', async () => {
  const scene = new Scene()
  const zk = await scene.client()
  const tokens: bigint[] = []
  const body = ({ fencingToken }: Held) => tokens.push(fencingToken)
  for (const slot of ['a', 'b', 'c']) await scene.done(once(zk, PATH, { slot }, body))
  expect(tokens).toEqual([...tokens].sort((one, other) => (one < other ? -1 : 1)))
  expect(new Set(tokens).size).toBe(3)
})
