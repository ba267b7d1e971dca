// Every check can fail: each is shown a history that breaks its invariant, and one that breaks none.
import type { LoggedTxn } from '@zk/testing'
import { describe, expect, test } from 'vitest'
import { WALL_START } from '@zk/testing/internal'
import type { InvariantId } from '../src/checks/check.ts'
import { SET } from '../src/play/paths.ts'
import { workloadOf } from '../src/recipes/index.ts'
import { type Draft, paths, sound, task } from './support/history.ts'

const [first, second] = paths
function broken(draft: Draft): InvariantId[] {
  const played = draft.played()
  const violations = workloadOf(played.scenario).checks.flatMap((check) => check(played))
  return [...new Set(violations.map(({ invariant }) => invariant))]
}

const reader = first.replace('lock-', '__READ__')
const readerNode = {
  path: reader,
  czxid: 4n,
  place: 1n,
  owner: 100n,
  createdAt: 50,
  end: { zxid: 5n, at: 58, how: 'deleted' },
} as const
const readGrant = { type: 'granted', attempt: 2, client: 0, kind: 'read', path: reader, fence: 1n } as const

/** The first, a writer, goes on as a reader; the second, a writer too, waits for it. */
function downgraded(): Draft {
  const reading = { kind: 'read', how: 'downgrade', after: 0, hold: [], writes: 'both' } as const
  return sound()
    .recipe('SharedLock')
    .without(({ type, at }) => type === 'released' && at === 55)
    .node(readerNode)
    .add(46, { type: 'attempted', attempt: 2, client: 0, task: reading })
    .add(52, readGrant)
    .add(53, { type: 'lost', attempt: 2, reason: 'Released' })
    .add(60, { type: 'released', attempt: 2, isSessionOver: false })
    .add(60, { type: 'done', attempt: 2 })
    .withoutChecks()
    .checked({ path: second, zxid: 7n, session: 200n, at: 60 })
    .node({ path: second, czxid: 2n, owner: 200n, createdAt: 21, end: { zxid: 8n, at: 80, how: 'deleted' } })
}

const secondGrant = { type: 'granted', attempt: 1, client: 1, kind: 'exclusive', path: second, fence: 2n } as const

/** The first still holds when the second is granted. */
function overlapping(): Draft {
  return sound()
    .without(({ type, at }) => type === 'lost' && at === 45)
    .add(90, { type: 'lost', attempt: 0, reason: 'Released' })
}

/** The end of a session: a server that lets it expire has no xid. */
const closed = (at: number, cxid: number): LoggedTxn => ({
  header: { sessionId: 100n, cxid, zxid: 9n, time: WALL_START + at },
  txn: { type: 'closeSession', paths: [] },
})

const leaseLost = { type: 'lost', attempt: 0, reason: 'LeaseLost' } as const
const noLookUps = { type: 'struck', fault: { type: 'failLookUp', client: 0, for: 9 } } as const

describe('check', () => {
  test('check finds nothing in a correct history', () => {
    expect(broken(sound())).toEqual([])
  })

  test.each<[InvariantId, string, () => Draft]>([
    ['I1', 'two hold at once', overlapping],
    [
      'I1',
      'a process that stood still believes that it holds',
      () =>
        sound()
          .without(({ type, at }) => type === 'lost' && at === 45)
          .add(44, { type: 'stalled', client: 0 })
          .add(66, { type: 'awake', client: 0 })
          .add(67, { type: 'lost', attempt: 0, reason: 'Disconnected' }),
    ],
    [
      'I2',
      'a fence that is not the czxid',
      () =>
        sound()
          .without(({ type, at }) => type === 'granted' && at === 65)
          .add(65, { ...secondGrant, fence: 7n }),
    ],
    [
      'I2',
      'an outside write of an earlier holder after one of a later',
      () =>
        sound()
          .add(68, { type: 'fenced', attempt: 1, kind: 'exclusive', fence: 2n, isAccepted: true })
          .add(69, { type: 'fenced', attempt: 0, kind: 'exclusive', fence: 1n, isAccepted: true }),
    ],
    [
      'I3',
      'a guarded write of a holder that is gone',
      () => sound().node({ path: `${SET}/0000000001`, czxid: 7n, data: '1', createdAt: 90 }),
    ],
    [
      'I3',
      'a guarded write of an earlier holder after one of a later, both alive',
      () =>
        sound()
          .node({ path: second, czxid: 2n, owner: 200n, createdAt: 21 })
          .node({ path: first, czxid: 1n, owner: 100n, createdAt: 20 })
          .node({ path: `${SET}/0000000001`, czxid: 7n, data: '2', createdAt: 90 })
          .node({ path: `${SET}/0000000002`, czxid: 8n, data: '1', createdAt: 91 }),
    ],
    ['I4', 'a node is left when all is quiet', () => sound().end({ nodes: [first] })],
    [
      'I4',
      'a release resolves before the node is gone',
      () =>
        sound().node({ path: first, czxid: 1n, owner: 100n, createdAt: 20, end: { zxid: 4n, at: 60, how: 'deleted' } }),
    ],
    [
      'I5',
      'an attempt waits on its own node',
      () => sound().add(32, { type: 'queued', attempt: 1, ahead: [second.replace('0001', '0000')] }),
    ],
    ['I6', 'a worker is not done', () => sound().end({ pending: ['worker 0 of client 0'] })],
    [
      'I7',
      'the younger is granted first',
      () =>
        sound()
          .without(({ type, at }) => type === 'granted' && at === 65)
          .add(29, secondGrant)
          .add(29, { type: 'lost', attempt: 1, reason: 'Released' }),
    ],
    [
      'I8',
      'one release wakes two others',
      () => sound().events([300n, 400n].map((session) => ({ at: 50, session, path: first }))),
    ],
    ['I9', 'a grant without a check', () => sound().withoutChecks()],
    [
      'I9',
      'a grant while an older contender exists',
      () =>
        sound().node({ path: first, czxid: 1n, owner: 100n, createdAt: 20, end: { zxid: 4n, at: 95, how: 'deleted' } }),
    ],
    [
      'I10',
      'an attempt is refused, and granted',
      () => sound().add(50, { type: 'refused', attempt: 0, why: 'timeout' }),
    ],
    ['I11', 'what was lost is held again', () => sound().add(90, { type: 'asked', attempt: 0, isHeld: true })],
    ['I12', 'an attempt settles twice', () => sound().add(66, secondGrant)],
    [
      'I12',
      'an attempt comes to no end',
      () => sound().add(87, { type: 'attempted', attempt: 2, client: 0, task }).add(88, { type: 'done', attempt: 2 }),
    ],
    [
      'I12',
      'an acquire times out too late',
      () =>
        sound()
          .add(20, { type: 'attempted', attempt: 2, client: 0, task: { ...task, timeout: 10 } })
          .add(60, { type: 'refused', attempt: 2, why: 'timeout' }),
    ],
    [
      'I12',
      'an acquire fails for no reason there is',
      () =>
        sound()
          .add(20, { type: 'attempted', attempt: 2, client: 0, task })
          .add(30, { type: 'refused', attempt: 2, why: 'error', error: 'KeeperError: ConnectionLoss' }),
    ],
    ['I12', 'an unexpected error', () => sound().add(60, { type: 'unexpected', what: 'release: TypeError' })],
    [
      'I13',
      'an entry is delivered to a contender that did not make it',
      () => sound().add(68, { type: 'guarded', attempt: 1, entry: `${SET}/0000000000` }),
    ],
    ['I14', 'the last change was not seen', () => sound().end({ watched: [{ client: 0, seen: 1, last: 2 }] })],
    ['I15', 'a watch is left', () => sound().end({ serverWatches: 1 })],
    ['I15', 'a timer is left', () => sound().end({ timers: 1 })],
    ['I15', 'a connection is left', () => sound().end({ links: 1 })],
    ['I6', 'a client finds no server again', () => sound().end({ unconnected: [0] })],
    ['I18', 'a hold is lost and nothing has gone wrong', () => sound().add(46, leaseLost)],
    ['I18', 'a hold is lost while only look-ups fail', () => sound().add(40, noLookUps).add(46, leaseLost)],
    ['I18', 'a session expires before anything has gone wrong', () => sound().committed(closed(47, 0))],
  ])('check finds %s: %s', (invariant, _, draft) => {
    expect(broken(draft())).toContain(invariant)
  })

  test('check accepts a loss of a contender whose node an operator deleted', () => {
    const draft = sound()
      .without(({ type, at }) => type === 'lost' && at === 45)
      .add(48, { type: 'forced', paths: [first], session: undefined })
      .add(66, { type: 'lost', attempt: 0, reason: 'NodeGone' })
    expect(broken(draft)).toEqual([])
  })

  test.each(['connected', 'sessionAlive'] as const)(
    'check accepts that contenders which hold while %s hold together',
    (heldWhile) => expect(broken(overlapping().holdOptions({ heldWhile }))).toEqual([]),
  )

  test('check accepts that contenders hold together if a server shortened their session without their knowledge', () => {
    expect(broken(overlapping().shortened(100n))).toEqual([])
    expect(broken(overlapping().shortened(300n))).toContain('I1')
  })

  test('check does not require that sessions live after a fault, or after their client has closed them', () => {
    const struck = { type: 'struck', fault: { type: 'reset', client: 0 } } as const
    expect(broken(sound().add(40, struck).committed(closed(47, 0)))).toEqual([])
    expect(broken(sound().add(47.5, struck).committed(closed(47, 0)))).toEqual([])
    expect(broken(sound().add(48, struck).committed(closed(47, 0)))).toEqual(['I18'])
    expect(broken(sound().committed(closed(47, 12)))).toEqual([])
  })

  test('check accepts late notifications of contenders that hold while sessionAlive', () => {
    const late = () =>
      sound()
        .without(({ type, at }) => (type === 'granted' || type === 'asked') && at === 30)
        .add(66, { type: 'granted', attempt: 0, client: 0, kind: 'exclusive', path: first, fence: 1n })
        .without(({ type, at }) => type === 'lost' && at === 45)
        .add(67, { type: 'lost', attempt: 0, reason: 'SessionExpired' })
    expect(broken(late())).toEqual(expect.arrayContaining(['I2', 'I7']))
    const lax = broken(late().holdOptions({ heldWhile: 'sessionAlive' }))
    expect(lax.filter((each) => ['I1', 'I2', 'I7'].includes(each))).toEqual([])
  })

  test('check accepts a writer that goes on as a reader, for which the next writer waits', () => {
    expect(broken(downgraded())).toEqual([])
  })

  test.each<[InvariantId, string, (draft: Draft) => Draft]>([
    ['I1', 'a writer holds beside its reader', (draft) => draft.add(52.5, { ...secondGrant, kind: 'write' })],
    [
      'I2',
      "a reader's fence is not that of the writer whose place it has",
      (draft) => draft.without(({ type, at }) => type === 'granted' && at === 52).add(52, { ...readGrant, fence: 4n }),
    ],
    [
      'I2',
      'two have one fence',
      (draft) => draft.node({ path: reader, czxid: 3n, place: 1n, owner: 100n, createdAt: 50 }),
    ],
    [
      'I3',
      'a guarded write of a reader that is gone',
      (draft) => draft.node({ path: `${SET}/0000000001`, czxid: 6n, data: '1', createdAt: 59 }),
    ],
    [
      'I9',
      'a writer is granted while the reader is there',
      (draft) => draft.node({ ...readerNode, end: { zxid: 9n, at: 90, how: 'deleted' } }),
    ],
    [
      'I12',
      'a downgrade fails for no reason there is',
      (draft) => draft.add(53, { type: 'refused', attempt: 2, why: 'error', error: 'KeeperError: NodeExists' }),
    ],
  ])('check finds %s in a history with a downgrade: %s', (invariant, _, breaking) => {
    expect(broken(breaking(downgraded()))).toContain(invariant)
  })

  test('check accepts that readers hold together', () => {
    const draft = sound()
      .recipe('SharedLock')
      .without(({ type, at }) => type === 'granted' || type === 'queued' || (type === 'lost' && at === 45))
      .node({
        path: first.replace('lock-', '__READ__'),
        czxid: 11n,
        owner: 100n,
        createdAt: 20,
        end: { zxid: 14n, at: 50, how: 'deleted' },
      })
      .node({
        path: second.replace('lock-', '__READ__'),
        czxid: 12n,
        owner: 200n,
        createdAt: 21,
        end: { zxid: 16n, at: 80, how: 'deleted' },
      })
      .add(30, {
        type: 'granted',
        attempt: 0,
        client: 0,
        kind: 'read',
        path: first.replace('lock-', '__READ__'),
        fence: 11n,
      })
      .add(31, {
        type: 'granted',
        attempt: 1,
        client: 1,
        kind: 'read',
        path: second.replace('lock-', '__READ__'),
        fence: 12n,
      })
      .add(45, { type: 'lost', attempt: 0, reason: 'Released' })
    expect(broken(draft).filter((id) => id === 'I1' || id === 'I7' || id === 'I9')).toEqual([])
  })
})
