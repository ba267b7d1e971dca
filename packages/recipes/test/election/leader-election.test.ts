// Elections (catalogue E): standing, leading, resigning.
import { describe, expect, test } from 'vitest'
import { KeeperError, LeaderElection, type Held, type ZooKeeper } from '../../src/index.ts'
import { atEveryFrame } from '../support/everywhere.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { fail, type Fault, ignore, loseReply, loseRequest } from '../support/faults.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/leader'

/** A candidate that stands again and again; each term lasts until it is ordered to end, or is lost. */
class Candidate {
  readonly zk: ZooKeeper
  readonly election: LeaderElection
  readonly stopping = new AbortController()
  readonly terms: Held[] = []
  readonly standing: Outcome<void>
  #endTerm = () => {}

  constructor(zk: ZooKeeper, data = '') {
    this.zk = zk
    this.election = new LeaderElection(zk, PATH, { label: data })
    this.standing = outcome(this.#stand())
  }

  get isLeader(): boolean {
    return this.terms.at(-1)?.isHeld() ?? false
  }

  endTerm(): void {
    this.#endTerm()
  }

  async #stand(): Promise<void> {
    for await (const leadership of this.election.terms({ signal: this.stopping.signal })) {
      this.terms.push(leadership)
      await new Promise<void>((resolve) => {
        this.#endTerm = resolve
        leadership.signal.addEventListener('abort', () => resolve(), { once: true })
      })
    }
  }
}

async function candidates(scene: Scene, count: number): Promise<Candidate[]> {
  const all: Candidate[] = []
  for (const zk of await scene.clients(count)) {
    all.push(new Candidate(zk, `host-${all.length}`))
    await scene.world.settle()
  }
  return all
}

function leaders(all: readonly Candidate[]): number[] {
  return all.flatMap(({ isLeader }, index) => (isLeader ? [index] : []))
}

const met: readonly [name: string, fault: Fault][] = [
  ['ThrottledOp', fail('ThrottledOp')],
  ['OperationTimeout', fail('OperationTimeout')],
  ['a connection lost before it', loseRequest],
  ['a connection lost behind it', loseReply],
  ['no answer on a standing connection', ignore],
]

describe('LeaderElection.campaign', () => {
  test('LeaderElection.campaign elects the one that stands longest, and the next when it resigns', async () => {
    const scene = new Scene()
    const campaigns: Outcome<Held>[] = []
    for (const zk of await scene.clients(3)) campaigns.push(await scene.start(new LeaderElection(zk, PATH).campaign()))
    for (let leader = 0; leader < 3; leader++) {
      expect(campaigns.map(({ status }) => status === 'fulfilled')).toEqual([0, 1, 2].map((each) => each <= leader))
      await scene.done(campaigns[leader]!.value.release())
    }
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('LeaderElection.campaign takes a timeout and a signal', async () => {
    const scene = new Scene()
    const [leader, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    await scene.done(new LeaderElection(leader, PATH).campaign())
    const timed = outcome(new LeaderElection(zk, PATH).campaign({ timeout: 1_000 }))
    const abort = new AbortController()
    const aborted = outcome(new LeaderElection(zk, PATH).campaign({ signal: abort.signal }))
    await scene.world.advance(1_000)
    abort.abort(new Error('enough'))
    await scene.world.settle()
    expect(timed.error).toMatchObject({ name: 'WaitTimeoutError', position: 1 })
    expect(aborted.error).toEqual(new Error('enough'))
    expect(scene.ensemble.nodes.ephemerals(zk.session.id)).toEqual([])
  })

  test('LeaderElection.campaign leaves no node when the client is closed with the create in flight (E05)', async () => {
    const steps = await atEveryFrame(async (frame) => {
      const scene = new Scene()
      const zk = await scene.client()
      let wasPending = false
      scene.network.before(frame, () => {
        wasPending = campaign.status === 'pending'
        void zk.close()
      })
      const campaign = outcome(new LeaderElection(zk, PATH).campaign())
      await scene.world.settle()
      if (!wasPending) return false
      expect(campaign.status === 'fulfilled' && campaign.value.isHeld()).toBe(false)
      expect(scene.leftovers()).toEqual(nothing)
      return true
    })
    expect(steps).toBeGreaterThanOrEqual(5)
  })
})

describe('LeaderElection.terms', () => {
  test('LeaderElection.terms has one leader at a time; a leader that resigns goes to the end of the queue (E11)', async () => {
    const scene = new Scene()
    const all = await candidates(scene, 3)
    const order: number[] = []
    for (let turn = 0; turn < 6; turn++) {
      const [leader, ...others] = leaders(all)
      expect(others).toEqual([])
      order.push(leader!)
      all[leader!]!.endTerm()
      await scene.world.settle()
    }
    expect(order).toEqual([0, 1, 2, 0, 1, 2])
    const tokens = order.map((leader, turn) => all[leader]!.terms[Math.floor(turn / 3)]!.fencingToken)
    expect(tokens).toEqual([...tokens].sort((one, other) => (one < other ? -1 : 1)))
  })

  test('LeaderElection.terms has one leader at a time while one session after the other expires (E01)', async () => {
    const scene = new Scene()
    const all = await candidates(scene, 5)
    let token = 0n
    for (let turn = 0; turn < 100; turn++) {
      const [leader, ...others] = leaders(all)
      expect(others).toEqual([])
      const { fencingToken } = all[leader!]!.terms.at(-1)!
      expect(fencingToken).toBeGreaterThan(token)
      token = fencingToken
      scene.expire(all[leader!]!.zk)
      await scene.world.advance(2_000)
    }
    expect(scene.ensemble.nodes.ephemerals()).toHaveLength(5)
  })

  test('LeaderElection.terms does not lead on the node of an expired session that a server still shows (E04)', async () => {
    const scene = new Scene({ members: 2 })
    const first = scene.ensemble.leader!
    const second = scene.ensemble.members.find((member) => member !== first)!
    second.refuse()
    const [candidate] = await candidates(scene, 1)
    const [old] = candidate!.terms
    second.lag(1_000)
    scene.expire(candidate!.zk)
    expect(second.node(old!.path)).toBeDefined()
    first.refuse()
    second.accept()
    await scene.world.advance(5_000)
    expect(candidate!.terms).toHaveLength(2)
    const term = candidate!.terms[1]!
    expect(term.isHeld()).toBe(true)
    expect(term.path).not.toBe(old!.path)
    expect(scene.ensemble.nodes.get(term.path)!.stat.ephemeralOwner).toBe(candidate!.zk.session.id)
    expect(scene.ensemble.nodes.ephemerals()).toEqual([term.path])
  })

  test('LeaderElection.terms makes one node for each time it stands, however often it reconnects meanwhile (E06)', async () => {
    const scene = new Scene()
    const all = await candidates(scene, 2)
    const since = scene.since()
    const follower = all[1]!.zk
    for (let turn = 0; turn < 10; turn++) {
      scene.cut(follower)
      await scene.world.advance(turn % 2 === 0 ? 1_000 : 20)
    }
    await scene.world.advance(5_000)
    expect(since.ops(follower.session.id)).not.toContain('create2')
    expect(leaders(all)).toEqual([0])
    expect(scene.ensemble.nodes.ephemerals()).toHaveLength(2)
    all[0]!.endTerm()
    await scene.world.settle()
    expect(leaders(all)).toEqual([1])
  })

  test.each(
    (['create2', 'getChildren2', 'getData', 'multi', 'delete'] as const).flatMap((op) =>
      met.map(([name, fault]) => [op, name, fault] as const),
    ),
  )('LeaderElection.terms stays in the race when a %s meets %s (E07)', async (op, _, fault) => {
    const scene = new Scene()
    const all = await candidates(scene, 2)
    fault(scene.ensemble.faults, { op })
    for (let turn = 0; turn < 4; turn++) {
      for (const leader of leaders(all)) all[leader]!.endTerm()
      await scene.world.advance(40_000)
    }
    expect(scene.ensemble.faults.rules.length).toBe(0)
    expect(all.map(({ standing }) => standing.status)).toEqual(['pending', 'pending'])
    expect(leaders(all)).toHaveLength(1)
    expect(all.map(({ terms }) => terms.length).every((terms) => terms >= 2)).toBe(true)
    expect(scene.ensemble.nodes.ephemerals()).toHaveLength(2)
  })

  test.each([1, 1.2, 3])(
    'LeaderElection.terms stays in the race after a partition of %d session timeouts (E03, E07)',
    async (times) => {
      const scene = new Scene()
      const [candidate] = await candidates(scene, 1)
      const { timeout } = candidate!.zk.session
      scene.refuse()
      scene.cut(candidate!.zk)
      await scene.world.advance(times * timeout)
      expect(candidate!.standing.error).toBeUndefined()
      expect(candidate!.isLeader).toBe(false)
      scene.accept()
      await scene.world.advance(2 * timeout)
      expect(candidate!.terms).toHaveLength(2)
      expect(candidate!.isLeader).toBe(true)
      expect(scene.ensemble.nodes.ephemerals()).toEqual([candidate!.terms[1]!.path])
    },
  )

  test('LeaderElection.terms resigns when its body throws, and rejects with the error (E08)', async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const standing = outcome(
      (async () => {
        for await (const leadership of new LeaderElection(zk, PATH).terms()) {
          await zk.sync(leadership.path)
          throw new Error('of the body')
        }
      })(),
    )
    const next = outcome(new LeaderElection(other, PATH).campaign())
    await scene.world.settle()
    expect(standing.error).toEqual(new Error('of the body'))
    expect(next.value.isHeld()).toBe(true)
  })

  test('LeaderElection.terms resigns when its body breaks out (E08)', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    let term: Held | undefined
    const standing = outcome(
      (async () => {
        for await (const leadership of new LeaderElection(zk, PATH).terms()) {
          term = leadership
          break
        }
      })(),
    )
    await scene.world.settle()
    expect(standing.status).toBe('fulfilled')
    expect(term!.signal.reason).toMatchObject({ code: 'Released' })
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('LeaderElection.terms keeps leading while its body never ends (E08)', async () => {
    const scene = new Scene()
    const all = await candidates(scene, 2)
    await scene.world.advance(3_600_000)
    expect(leaders(all)).toEqual([0])
    expect(all[0]!.terms).toHaveLength(1)
  })

  test.each([
    ['it stands', 1],
    ['it leads', 0],
  ])('LeaderElection.terms ends when its signal aborts while %s', async (_, index) => {
    const scene = new Scene()
    const all = await candidates(scene, 2)
    const { stopping, standing } = all[index]!
    stopping.abort()
    await scene.world.settle()
    // The body of a term decides itself when to end.
    expect(standing.status).toBe(index === 0 ? 'pending' : 'fulfilled')
    all[index]!.endTerm()
    await scene.world.settle()
    expect(standing.status).toBe('fulfilled')
    expect(leaders(all)).toEqual([1 - index])
    expect(scene.ensemble.nodes.ephemerals()).toEqual([all[1 - index]!.terms.at(-1)!.path])
  })

  test('LeaderElection.terms with a signal that is aborted already has none', async () => {
    const scene = new Scene()
    const election = new LeaderElection(await scene.client(), PATH)
    const first = await scene.done(election.terms({ signal: AbortSignal.abort() }).next())
    expect(first).toEqual({ done: true, value: undefined })
    expect(scene.ensemble.nodes.get(PATH)).toBeUndefined()
  })

  test('LeaderElection.terms tells what keeps it from standing', async () => {
    const scene = new Scene()
    scene.ensemble.nodes.create(PATH, { acl: [{ perms: 1, id: { scheme: 'world', id: 'anyone' } }] })
    const election = new LeaderElection(await scene.client(), PATH)
    const first = await scene.start(election.terms().next())
    expect(KeeperError.is(first.error, 'NoAuth')).toBe(true)
  })

  test('LeaderElection.terms goes on when the path is deleted, while it leads and while it follows (E09)', async () => {
    const scene = new Scene()
    const all = await candidates(scene, 3)
    await scene.world.advance(50)
    scene.ensemble.nodes.delete(PATH)
    await scene.world.advance(1_000)
    expect(all[0]!.terms[0]!.signal.reason).toMatchObject({ code: 'NodeGone' })
    expect(leaders(all)).toHaveLength(1)
    // Everybody stands again, in some order.
    const seen = new Set<number>()
    for (let turn = 0; turn < 3; turn++) {
      const [leader] = leaders(all)
      seen.add(leader!)
      all[leader!]!.endTerm()
      await scene.world.settle()
    }
    expect(seen.size).toBe(3)
    expect(scene.ensemble.nodes.ephemerals()).toHaveLength(3)
  })
})

describe('LeaderElection.leader', () => {
  test('LeaderElection.leader is the leader with its label, and undefined without candidates (E13)', async () => {
    const scene = new Scene()
    const observer = new LeaderElection(await scene.client(), PATH)
    expect(await scene.done(observer.leader())).toBeUndefined()
    const all = await candidates(scene, 2)
    const leader = await scene.done(observer.leader())
    expect(leader).toMatchObject({
      label: 'host-0',
      path: all[0]!.terms[0]!.path,
      fencingToken: all[0]!.terms[0]!.fencingToken,
      sessionId: all[0]!.zk.session.id,
      position: 0,
    })
    for (const each of all) {
      each.stopping.abort()
      each.endTerm()
      await scene.world.settle()
    }
    expect(await scene.done(observer.leader())).toBeUndefined()
  })

  test('LeaderElection.leader is the next when the leader goes while it is read (E13)', async () => {
    const scene = new Scene()
    const observer = new LeaderElection(await scene.client(), PATH)
    const all = await candidates(scene, 2)
    // Between its list and its read.
    scene.network.before(3, () => scene.ensemble.nodes.delete(all[0]!.terms[0]!.path))
    expect((await scene.done(observer.leader()))?.sessionId).toBe(all[1]!.zk.session.id)
  })

  test('LeaderElection.contenders lists all candidates, the leader first', async () => {
    const scene = new Scene()
    const observer = new LeaderElection(await scene.client(), PATH)
    await candidates(scene, 3)
    const labels = (await scene.done(observer.contenders())).map(({ label, position }) => [label, position])
    expect(labels).toEqual([
      ['host-0', 0],
      ['host-1', 1],
      ['host-2', 2],
    ])
  })
})
