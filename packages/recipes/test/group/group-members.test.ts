// Following the members of a group.
import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { Group, KeeperError, type Member, type ZooKeeper } from '../../src/index.ts'
import { atEveryMoment } from '../support/everywhere.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { Scene, type SceneOptions } from '../support/scene.ts'

const PATH = '/workers'
/** Longer than any pause before a new connection or a new session, in ms. */
const RECONNECTED = 3_000

/** The lists, as `members` yielded them: `name=data`. */
class Observer {
  readonly seen: string[][] = []
  readonly lists: (readonly Member[])[] = []
  readonly stopping = new AbortController()
  readonly watching: Outcome<void>

  constructor(zk: ZooKeeper) {
    this.watching = outcome(this.#watch(new Group(zk, PATH)))
  }

  get last(): string[] | undefined {
    return this.seen.at(-1)
  }

  async #watch(group: Group): Promise<void> {
    const lists = group.watchMembers({ signal: this.stopping.signal })
    for await (const members of lists) {
      this.lists.push(members)
      this.seen.push([...members.map(({ name, text }) => `${name}=${text}`), ...(lists.isStale ? ['stale'] : [])])
    }
  }
}

/** Servers that show the Stat of a node that may not be read, but send no events of it. */
const SHOWS_STATS: SceneOptions = { release: '3.8.0-debian' }

async function prepared(options: SceneOptions = {}) {
  const scene = new Scene(options)
  const [zk, one, other] = (await scene.clients(3)) as [ZooKeeper, ZooKeeper, ZooKeeper]
  return { scene, zk, one, other }
}

const join = (scene: Scene, zk: ZooKeeper, name: string, data = '') =>
  scene.done(new Group(zk, PATH).join({ name, data }))

describe('Group.watchMembers', () => {
  test('Group.watchMembers yields the members now, and whenever one comes, goes or writes its data', async () => {
    const { scene, zk, one, other } = await prepared()
    const observer = new Observer(zk)
    await scene.world.settle()
    const first = await join(scene, one, 'one', '1')
    const second = await join(scene, other, 'other', '2')
    await scene.done(first.update('3'))
    await scene.done(second.release())
    await scene.done(first.release())
    expect(observer.seen).toEqual([[], ['one=1'], ['one=1', 'other=2'], ['one=3', 'other=2'], ['one=3'], []])
    const [member] = observer.lists[1]!
    const { stat } = scene.ensemble.nodes.get(PATH) ?? { stat: undefined }
    expect(member).toMatchObject({ name: 'one', path: `${PATH}/one`, sessionId: one.session.id, czxid: member!.mzxid })
    expect(stat?.pzxid).toBeGreaterThan(member!.czxid)
  })

  test('Group.watchMembers yields a member that came again, also when it has the same data', async () => {
    const { scene, zk, one } = await prepared()
    await join(scene, one, 'one', '1')
    const observer = new Observer(zk)
    await scene.world.settle()
    scene.ensemble.nodes.delete(`${PATH}/one`)
    await scene.world.settle()
    expect(observer.last).toEqual(['one=1'])
    expect(observer.lists.at(-1)![0]!.czxid).toBeGreaterThan(observer.lists[0]![0]!.czxid)
  })

  test('Group.watchMembers reads only what has changed: a list and one member for one that joins, one member for an update', async () => {
    const { scene, zk, one, other } = await prepared()
    const first = await join(scene, one, 'one')
    for (const name of ['a', 'b', 'c']) await join(scene, other, name)
    const observer = new Observer(zk)
    await scene.world.settle()
    const since = scene.since()
    await scene.done(first.update('1'))
    expect(since.ops(zk.session.id)).toEqual(['getData'])
    await join(scene, other, 'd')
    expect(since.ops(zk.session.id)).toEqual(['getData', 'getChildren2', 'getData'])
    expect(observer.last).toEqual(['a=', 'b=', 'c=', 'd=', 'one=1'])
  })

  test('Group.watchMembers keeps one watch on the list and one on each member, and none when the loop is left', async () => {
    const { scene, zk, one } = await prepared()
    for (const name of ['a', 'b']) await join(scene, one, name)
    const observer = new Observer(zk)
    await scene.world.settle()
    expect(
      scene
        .watches(zk)
        .map(({ table, path }) => `${table} ${path}`)
        .sort(),
    ).toEqual([`child ${PATH}`, `data ${PATH}/a`, `data ${PATH}/b`])
    observer.stopping.abort()
    await scene.world.settle()
    expect([observer.watching.status, scene.watches(zk)]).toEqual(['fulfilled', []])
  })

  test('Group.watchMembers removes its watches when the loop is left by break', async () => {
    const { scene, zk, one } = await prepared()
    await join(scene, one, 'a')
    await scene.done(
      (async () => {
        for await (const members of new Group(zk, PATH).watchMembers()) if (members.length > 0) break
      })(),
    )
    await scene.world.settle()
    expect(scene.watches(zk)).toEqual([])
  })

  test('Group.watchMembers of a path that does not exist waits for it, and is empty again when the path is deleted', async () => {
    const { scene, zk, one } = await prepared()
    const observer = new Observer(zk)
    await scene.world.settle()
    expect(scene.watches(zk)).toMatchObject([{ table: 'data', path: PATH }])
    const me = await join(scene, one, 'one', '1')
    await scene.done(me.release())
    scene.ensemble.nodes.delete(PATH)
    await scene.world.settle()
    expect(observer.last).toEqual([])
    await join(scene, one, 'one', '2')
    expect(observer.last).toEqual(['one=2'])
    observer.stopping.abort()
    await scene.world.settle()
    expect(scene.watches(zk)).toEqual([])
  })

  test('Group.watchMembers goes on over a lost connection and tells what was missed (G12)', async () => {
    const { scene, zk, one, other } = await prepared()
    const me = await join(scene, one, 'one', '1')
    const observer = new Observer(zk)
    await scene.world.settle()
    scene.refuse()
    scene.cut(zk)
    await scene.done(me.update('2'))
    await join(scene, other, 'other')
    expect(observer.last).toEqual(['one=1', 'stale'])
    scene.accept()
    await scene.world.advance(RECONNECTED)
    expect(observer.last).toEqual(['one=2', 'other='])
  })

  test('Group.watchMembers goes on over an expired session, syncs before it reads, and tells what was missed once', async () => {
    const { scene, zk, one } = await prepared()
    const me = await join(scene, one, 'one', '1')
    const observer = new Observer(zk)
    await scene.world.settle()
    scene.refuse()
    const since = scene.since()
    scene.expire(zk)
    await scene.done(me.update('2'))
    scene.accept()
    await scene.world.advance(RECONNECTED)
    expect(observer.seen).toEqual([['one=1'], ['one=1', 'stale'], ['one=2']])
    expect(since.ops(zk.session.id).slice(0, 2)).toEqual(['sync', 'getChildren2'])
    expect(scene.watches(zk)).toHaveLength(2)
  })

  test('Group.watchMembers says when the list is stale, and when it is confirmed in the next session', async () => {
    const { scene, zk, one } = await prepared()
    await join(scene, one, 'one', '1')
    const observer = new Observer(zk)
    await scene.world.settle()
    scene.expire(zk)
    await scene.world.advance(RECONNECTED)
    expect(observer.seen).toEqual([['one=1'], ['one=1', 'stale'], ['one=1']])
  })

  test('Group.watchMembers makes one list of what happens while the loop works, and reads nothing meanwhile', async () => {
    const { scene, zk, one, other } = await prepared()
    const members = new Group(zk, PATH).watchMembers()
    await scene.done(members.next())
    const since = scene.since()
    const me = await join(scene, one, 'one', '1')
    for (const data of ['2', '3', '4']) await scene.done(me.update(data))
    await join(scene, other, 'other')
    expect(since.ops(zk.session.id)).toEqual([])
    const { value } = await scene.done(members.next())
    expect((value as Member[]).map(({ name, text }) => `${name}=${text}`)).toEqual(['one=4', 'other='])
    const next = outcome(members.next())
    await scene.world.settle()
    expect(next.status).toBe('pending')
  })

  test('Group.watchMembers reads a member again that it may not read, whenever it lists the names', async () => {
    const { scene, zk, one, other } = await prepared(SHOWS_STATS)
    await scene.done(one.addAuth('digest', 'one:secret'))
    scene.ensemble.nodes.create(PATH)
    const acl = [{ perms: 31, id: { scheme: 'auth', id: '' } }]
    const me = await scene.done(new Group(one, PATH, { acl }).join({ name: 'secret', data: '2' }))
    const members = new Group(zk, PATH).watchMembers()
    const list = async () => (await scene.done(members.next())).value as Member[]
    const [before] = await list()
    // It is made again between two lists, so both have the name.
    scene.ensemble.nodes.delete(me.path)
    await join(scene, other, 'other')
    const after = (await list()).find(({ name }) => name === 'secret')!
    expect(after.czxid).toBe(scene.ensemble.nodes.get(me.path)!.stat.czxid)
    expect(after.czxid).toBeGreaterThan(before!.czxid)
    expect(KeeperError.is(after.error, 'NoAuth')).toBe(true)
  })

  test('Group has a member that a server does not show at all, and Group.join waits for its name (G16)', async () => {
    const { scene, zk, one, other } = await prepared()
    await scene.done(one.addAuth('digest', 'one:secret'))
    scene.ensemble.nodes.create(PATH)
    const acl = [{ perms: 31, id: { scheme: 'auth', id: '' } }]
    const me = await scene.done(new Group(one, PATH, { acl }).join({ name: 'secret', data: '2' }))
    await join(scene, other, 'open', '1')
    // As servers from 3.8.4 and 3.9.2 on do: ZOOKEEPER-2590.
    const { session } = zk
    scene.ensemble.faults.fail({ op: 'exists', path: me.path, session: session.id, code: 'NoAuth', times: Infinity })
    const members = new Group(zk, PATH).watchMembers()
    const lists = [
      (await scene.done(members.next())).value as Member[],
      await scene.done(new Group(zk, PATH).members()),
    ]
    for (const list of lists) {
      const [open, secret] = list
      expect([open!.name, open!.text, secret!.name, secret!.text]).toEqual(['open', '1', 'secret', ''])
      expect(KeeperError.is(secret!.error, 'NoAuth')).toBe(true)
      expect([secret!.sessionId, secret!.czxid, secret!.since]).toEqual([0n, 0n, 0])
    }
    const taken = outcome(new Group(zk, PATH).join({ name: 'secret', timeout: 2_500 }))
    await scene.world.advance(2_500)
    expect(taken.error).toMatchObject({ name: 'WaitTimeoutError', owner: { sessionId: 0n, since: 0, isOwn: false } })
    expect(String(taken.error)).toContain('may not read whose node it is')
    const joining = outcome(new Group(zk, PATH).join({ name: 'secret', timeout: RECONNECTED }))
    await scene.world.settle()
    scene.ensemble.faults.clear()
    await scene.done(me.release())
    await scene.world.advance(RECONNECTED)
    expect(joining.status).toBe('fulfilled')
  })

  test('Group.watchMembers yields a member whose data may not be read, with the error and without data (G13)', async () => {
    const { scene, zk, one } = await prepared(SHOWS_STATS)
    await join(scene, one, 'open', '1')
    await scene.done(one.addAuth('digest', 'one:secret'))
    const acl = [{ perms: 31, id: { scheme: 'auth', id: '' } }]
    const me = await scene.done(new Group(one, PATH, { acl }).join({ name: 'secret', data: '2' }))
    const observer = new Observer(zk)
    await scene.world.settle()
    const [open, secret] = observer.lists[0]!
    expect([open!.error, open!.text]).toEqual([undefined, '1'])
    expect([KeeperError.is(secret!.error, 'NoAuth'), secret!.text, secret!.sessionId]).toEqual([
      true,
      '',
      one.session.id,
    ])
    expect(
      scene
        .watches(zk)
        .map(({ path }) => path)
        .sort(),
    ).toEqual([PATH, `${PATH}/open`])
    await scene.done(me.release())
    expect(observer.last).toEqual(['open=1'])
  })

  test('Group.watchMembers sees that a member came again whose data may not be read, though servers send no event of its node', async () => {
    const { scene, zk, one } = await prepared(SHOWS_STATS)
    await scene.done(one.addAuth('digest', 'one:secret'))
    scene.ensemble.nodes.create(PATH)
    const acl = [{ perms: 31, id: { scheme: 'auth', id: '' } }]
    await scene.done(new Group(one, PATH, { acl }).join({ name: 'secret' }))
    const observer = new Observer(zk)
    await scene.world.settle()
    scene.ensemble.nodes.delete(`${PATH}/secret`)
    await scene.world.settle()
    const { stat } = scene.ensemble.nodes.get(`${PATH}/secret`)!
    expect(observer.lists.at(-1)!.map(({ czxid }) => czxid)).toEqual([stat.czxid])
  })

  test('Group.watchMembers rejects when the list may not be read, and when the client is closed', async () => {
    const { scene, zk, one } = await prepared()
    const observer = new Observer(one)
    await scene.world.settle()
    await scene.done(one.close())
    expect(KeeperError.is(observer.watching.error, 'Closed')).toBe(true)
    await scene.done(zk.create(PATH, '', { acl: [{ perms: 4, id: { scheme: 'world', id: 'anyone' } }] }))
    const refused = new Observer(zk)
    await scene.world.settle()
    expect(KeeperError.is(refused.watching.error, 'NoAuth')).toBe(true)
    expect(scene.watches(zk)).toEqual([])
  })

  test('Group.watchMembers leaves no listener at its signal while the loop works', async () => {
    const { scene, zk } = await prepared()
    const { signal } = new AbortController()
    const members = new Group(zk, PATH).watchMembers({ signal })
    await scene.done(members.next())
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  // Three at once: between a list and the reads of its members one comes, another one goes, and comes again.
  test.each([1, 3])(
    'Group.watchMembers: every list is one that the group had, whenever members come and go while it reads, %i at once (G11)',
    async (burst) => {
      const played = await atEveryMoment(
        async (moment) => {
          const { scene, zk, one } = await prepared()
          const { nodes } = scene.ensemble
          for (const name of ['a', 'b']) await join(scene, one, name)
          const present = () =>
            nodes
              .get(PATH)!
              .children.toSorted()
              .map((name) => `${name} ${nodes.get(`${PATH}/${name}`)!.stat.czxid}`)
          const truth = [String(present())]
          const changes = [
            () => nodes.create(`${PATH}/c`),
            () => nodes.delete(`${PATH}/a`),
            () => nodes.create(`${PATH}/a`),
            () => nodes.delete(`${PATH}/b`),
            () => nodes.delete(`${PATH}/c`),
            () => nodes.create(`${PATH}/b`),
          ]
          const change = () => {
            changes.shift()!()
            truth.push(String(present()))
          }
          let came = false
          const go = (): void => {
            came = true
            for (let nth = 0; nth < burst && changes.length > 0; nth++) change()
            if (changes.length > 0) scene.world.interrupt({ received: 1, hops: 2 }, go)
          }
          const observer = new Observer(zk)
          scene.world.interrupt(moment, go)
          await scene.world.settle()
          while (changes.length > 0) change()
          await scene.world.settle()
          const seen = observer.lists.map((list) => String(list.map(({ name, czxid }) => `${name} ${czxid}`)))
          expect(seen.filter((list) => !truth.includes(list))).toEqual([])
          expect(seen.at(-1)).toBe(truth.at(-1))
          return came
        },
        { stride: 2 },
      )
      expect(played).toBeGreaterThan(5)
    },
  )

  test('Group.watchMembers leaves no watch, whenever its signal aborts', async () => {
    await atEveryMoment(async (moment) => {
      const { scene, zk, one } = await prepared()
      for (const name of ['a', 'b']) await join(scene, one, name)
      const observer = new Observer(zk)
      scene.world.interrupt(moment, () => observer.stopping.abort())
      await scene.world.settle()
      if (scene.world.isInterruptionDue) return false
      expect([observer.watching.status, scene.watches(zk)]).toEqual(['fulfilled', []])
      return true
    })
  })
})

describe('Group.members', () => {
  test('Group.members resolves with the members, sorted by name, and leaves no watch', async () => {
    const { scene, zk, one, other } = await prepared()
    expect(await scene.done(new Group(zk, PATH).members())).toEqual([])
    await join(scene, other, 'b', '2')
    await join(scene, one, 'a', '1')
    const members = await scene.done(new Group(zk, PATH).members())
    expect(members.map(({ name, text, sessionId }) => [name, text, sessionId])).toEqual([
      ['a', '1', one.session.id],
      ['b', '2', other.session.id],
    ])
    expect(JSON.parse(JSON.stringify(members[0]))).toMatchObject({
      name: 'a',
      text: '1',
      czxid: expect.stringMatching(/^0x/),
    })
    expect(scene.watches(zk)).toEqual([])
  })

  test('Group.members leaves out a member that leaves during the reads', async () => {
    const { scene, zk, one } = await prepared()
    await join(scene, one, 'a')
    await join(scene, one, 'b')
    scene.ensemble.faults.fail({ op: 'getData', path: `${PATH}/a`, code: 'NoNode' })
    expect((await scene.done(new Group(zk, PATH).members())).map(({ name }) => name)).toEqual(['b'])
  })

  test('Group.members shows nodes of no session too, as Curator does', async () => {
    const { scene, zk } = await prepared()
    scene.ensemble.nodes.create(PATH)
    scene.ensemble.nodes.create(`${PATH}/static`)
    expect(await scene.done(new Group(zk, PATH).members())).toMatchObject([{ name: 'static', sessionId: 0n }])
  })
})

describe('Group of a server behind the leader', () => {
  test('Group.watchMembers shows the own member right after its join', async () => {
    const scene = new Scene({ members: 3 })
    const connecting = scene.client()
    await scene.world.advance(2_000)
    const zk = await connecting
    for (const member of scene.ensemble.members) if (member.role === 'follower') member.lag(500)
    const joining = outcome(new Group(zk, PATH).join({ name: 'me' }))
    await scene.world.advance(3_000)
    const observer = new Observer(zk)
    await scene.world.advance(3_000)
    expect([joining.status, observer.seen[0]]).toEqual(['fulfilled', ['me=']])
  })
})
