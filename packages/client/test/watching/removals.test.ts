// Every call that sets a watch, before and behind every call that takes watches off, at every distance: in one turn, while
// the first is on the wire, behind its answer, across a connection that is lost. The callers that must still be notified are a list.
import { GetDataResponse, OpCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { connect, KeeperError, type ZooKeeper } from '../../src/index.ts'
import type { RemovableWatches } from '../../src/operations/remove-watches.ts'
import { connected, nodeData, outcome, type Outcome, VirtualWorld } from '../support/index.ts'
import { Calls, type Loop, type OneShot, type Reading } from './shared-paths/calls.ts'
import { Nodes } from './shared-paths/nodes.ts'
import { WatchServer } from './shared-paths/watch-server.ts'
import type { Kind } from './shared-paths/watch-table.ts'

/** One case in so many is played, and others with each standing: the test command plays a part. */
const ONE_IN = process.env['ZK_SWEEPS'] === 'all' ? 1 : 4

type Watch = Reading | 'persistent' | 'recursive'

const watches: readonly Watch[] = ['data', 'exist', 'child', 'persistent', 'recursive']
/** A node that does not exist has no other watch. */
const ofNoNode: readonly Watch[] = ['exist', 'persistent', 'recursive']
const standings: readonly (readonly Watch[])[] = [
  [],
  ['data'],
  ['persistent'],
  ['recursive'],
  ['persistent', 'recursive'],
  ['data', 'child', 'persistent'],
]

const standingsOfNoNode: readonly (readonly Watch[])[] = [[], ['exist'], ['recursive'], ['exist', 'persistent']]

/** `leave` is the removal by the waiting callers themselves; `abort` gives up the call that sets the watch. */
type Removing = RemovableWatches | 'leave' | 'abort'

const removals: readonly Removing[] = ['Data', 'Children', 'Persistent', 'PersistentRecursive', 'Any', 'leave', 'abort']

const named: Record<RemovableWatches, readonly Watch[]> = {
  Data: ['data', 'exist'],
  Children: ['child'],
  Persistent: ['persistent'],
  PersistentRecursive: ['recursive'],
  Any: watches,
}

/** What happens behind a call: it is sent, executed and answered, as far as it gets. */
const distances = {
  'in the same turn': async () => {},
  'while it is on the wire': (scene: Scene) => scene.world.settle(),
  'while its answer is on the wire': async (scene: Scene) => {
    await scene.world.settle()
    scene.execute()
  },
  'behind its answer': (scene: Scene) => scene.serve(),
  'when it was lost': async (scene: Scene) => {
    await scene.world.settle()
    await scene.lose()
  },
  'when its answer was lost': async (scene: Scene) => {
    await scene.world.settle()
    scene.execute()
    await scene.lose()
  },
  'when it was lost, and there is another connection': async (scene: Scene) => {
    await scene.world.settle()
    await scene.lose()
    await scene.world.advance(LONGEST_PAUSE)
  },
} as const

type Distance = keyof typeof distances

const near = ['in the same turn', 'while it is on the wire'] as const

/** From the first call to the second, and behind both. */
const courses: readonly (readonly [between: Distance, behind: Distance])[] = [
  ...(Object.keys(distances) as Distance[]).map((between) => [between, 'behind its answer'] as const),
  ...near.flatMap((between) =>
    (['when it was lost', 'when its answer was lost'] as const).map((behind) => [between, behind] as const),
  ),
]

const PATH = '/a'
/** Between two attempts, in ms: T/30. */
const LONGEST_PAUSE = 1_000

class Scene {
  readonly world: VirtualWorld
  readonly nodes: Nodes
  readonly zk: ZooKeeper
  readonly calls: Calls
  /** All that happened, line by line. */
  readonly story: string[]
  /** The watches of the last connection. */
  server: WatchServer

  static async start(kind: Kind, isThere: boolean): Promise<Scene> {
    const world = new VirtualWorld()
    const nodes = new Nodes(isThere ? [PATH] : [])
    const story: string[] = []
    let scene: Scene | undefined
    let server: WatchServer | undefined
    world.listen('zk1:2181', {
      dialed: (link) => {
        server = new WatchServer(nodes, link, kind, (line) => story.push(line))
        if (scene !== undefined) scene.server = server
        link.open(server)
      },
    })
    const connecting = outcome(connect('zk1:2181', { runtime: world, sessionTimeout: 30_000 }))
    await world.settle()
    scene = new Scene({ world, nodes, story, zk: connecting.value, server: server! })
    return scene
  }

  private constructor(parts: Pick<Scene, 'world' | 'nodes' | 'story' | 'zk' | 'server'>) {
    this.world = parts.world
    this.nodes = parts.nodes
    this.zk = parts.zk
    this.story = parts.story
    this.server = parts.server
    this.calls = new Calls(
      parts.zk,
      () => this.nodes.zxid,
      (line) => this.story.push(line),
    )
  }

  execute(): void {
    while (this.server.execute());
  }

  /** The server does all it is asked for, until nothing is asked for any more. */
  async serve(): Promise<void> {
    for (let before = -1; before !== this.story.length;) {
      before = this.story.length
      await this.world.settle()
      this.execute()
      this.server.deliver()
      await this.world.settle()
    }
  }

  async lose(): Promise<void> {
    this.story.push('the connection is lost')
    this.server.drop()
    await this.world.settle()
  }

  set(watch: Watch, signal?: AbortSignal): void {
    const waiting = signal === undefined ? {} : { signal }
    if (watch === 'persistent' || watch === 'recursive') this.calls.watch(PATH, watch === 'recursive', waiting)
    else this.calls.readAndWatch(watch, PATH, waiting)
  }

  remove(removing: RemovableWatches): Outcome<void> {
    this.story.push(`removeWatches ${removing}`)
    return outcome(this.zk.removeWatches(PATH, removing))
  }
}

interface Case {
  readonly kind: Kind
  /** Whether there is a node. */
  readonly isThere: boolean
  readonly standing: readonly Watch[]
  readonly setting: Watch
  readonly removing: Removing
  readonly isSetFirst: boolean
  readonly between: Distance
  readonly behind: Distance
}

function* casesOf(kind: Kind, standing: readonly Watch[], isThere = true): Generator<Case> {
  for (const setting of isThere ? watches : ofNoNode) {
    for (const removing of removals) {
      for (const isSetFirst of [true, false]) {
        const isPossible = removing === 'abort' ? isSetFirst : removing !== 'leave' || standing.length > 0
        if (!isPossible) continue
        for (const [between, behind] of courses) {
          yield { kind, isThere, standing, setting, removing, isSetFirst, between, behind }
        }
      }
    }
  }
}

/** Throws if a caller receives too few or too many events, or a watch is left on the server. */
async function play({ kind, isThere, standing, setting, removing, isSetFirst, between, behind }: Case): Promise<void> {
  const scene = await Scene.start(kind, isThere)
  try {
    for (const watch of standing) scene.set(watch)
    await scene.serve()
    const { oneShots, loops } = scene.calls
    const before = { oneShots: [...oneShots], loops: [...loops] }
    expect(before.oneShots.length + before.loops.length).toBe(standing.length)
    const abort = new AbortController()
    let removal: Outcome<void> | undefined
    const set = () => scene.set(setting, removing === 'abort' ? abort.signal : undefined)
    const remove = () => {
      if (removing === 'abort') abort.abort('given up')
      else if (removing !== 'leave') removal = scene.remove(removing)
      else {
        for (const each of before.oneShots) scene.calls.unwatch(each)
        for (const each of before.loops) scene.calls.leave(each)
      }
    }
    const [first, second] = isSetFirst ? [set, remove] : [remove, set]
    first()
    await distances[between](scene)
    second()
    await distances[behind](scene)
    await scene.world.advance(LONGEST_PAUSE)
    await scene.serve()

    // --- callers that were notified of the end
    const isNamed = (watch: Watch) => removing in named && named[removing as RemovableWatches].includes(watch)
    const isOver = (each: OneShot | Loop) => {
      const isOld = ([...before.oneShots, ...before.loops] as readonly unknown[]).includes(each)
      if (removing === 'leave') return isOld
      // The signal of `watch` ends what it gave; that of a read is of no more use once it is answered.
      if (removing === 'abort') return !isOld && 'events' in each
      return isNamed(watchOf(each)) && (isOld || isSetFirst)
    }
    const isAny = standing.some(isNamed) || (isSetFirst && isNamed(setting))
    if (removal?.status === 'rejected') expect(KeeperError.is(removal.error, 'NoWatcher')).toBe(true)
    expect(removal?.status).toBe(removal && (isAny ? 'fulfilled' : 'rejected'))
    expect(scene.calls.pending).toEqual([])
    const isGivenUp = removing === 'abort' && between !== 'behind its answer'
    expect(oneShots.length + loops.length).toBe(standing.length + (isGivenUp ? 0 : 1))
    for (const each of oneShots) expect(each.isNotified).toBe(isOver(each))
    for (const each of loops) expect([each.isOver, each.notified]).toEqual([isOver(each), []])

    if ([...oneShots, ...loops].every(isOver)) expect(scene.server.watches.entries).toEqual([])

    // --- callers that are notified of what happens now
    scene.story.push('--- everything changes')
    if (isThere) scene.nodes.set(PATH)
    else scene.nodes.create(PATH)
    scene.nodes.create(`${PATH}/z`)
    const changed = isThere ? 'NodeDataChanged' : 'NodeCreated'
    await scene.serve()
    for (const each of oneShots) {
      const [event, gone] =
        each.reading === 'child' ? ['NodeChildrenChanged', 'ChildWatchRemoved'] : [changed, 'DataWatchRemoved']
      expect(each.event).toBe(isOver(each) ? gone : event)
    }
    for (const each of loops) {
      const events = [changed, each.isRecursive ? 'NodeCreated' : 'NodeChildrenChanged']
      expect(each.notified.map(({ type }) => type)).toEqual(isOver(each) ? [] : events)
    }

    expect(scene.zk.session.anomalies).toBe(0)

    // --- what is left
    for (const each of loops) if (!each.isOver) scene.calls.leave(each)
    await scene.serve()
    expect(scene.server.watches.entries).toEqual([])
    expect(scene.calls.pending).toEqual([])
  } catch (cause) {
    throw new Error([(cause as Error).message, ...scene.story].join('\n'), { cause })
  }
}

const watchOf = (each: OneShot | Loop): Watch => {
  if ('reading' in each) return each.reading
  return each.isRecursive ? 'recursive' : 'persistent'
}

describe.for([
  { releases: '3.6 to 3.8', kind: 'one' },
  { releases: '3.9', kind: 'several' },
] as const)('Watches that are set and taken off on a server of $releases', ({ kind }) => {
  async function playAll(cases: Iterable<Case>, part: number): Promise<void> {
    const offset = part % ONE_IN
    const failed: string[] = []
    let count = 0
    for (const each of cases) {
      if (count++ % ONE_IN !== offset) continue
      const { setting, removing, isSetFirst, between, behind } = each
      const name = isSetFirst ? `${setting}, then ${removing}` : `${removing}, then ${setting}`
      await play(each).catch((error: unknown) => {
        failed.push(`${name} ${between}, then ${behind}:\n${(error as Error).message}`)
      })
    }
    expect(count).toBeGreaterThan(300)
    expect(failed.slice(0, 3).join('\n\n'), `${failed.length} of ${count}`).toBe('')
  }

  test.each(standings.map((standing, part) => [standing.join(', ') || 'nothing', standing, part] as const))(
    'ZooKeeper notifies exactly the callers that still wait, and leaves nothing behind, with %s set before',
    async (_, standing, part) => playAll(casesOf(kind, standing), part),
  )

  test.each(standingsOfNoNode.map((standing, part) => [standing.join(', ') || 'nothing', standing, part] as const))(
    'ZooKeeper does so of a node that is not there, with %s set before',
    async (_, standing, part) => playAll(casesOf(kind, standing, false), part),
  )
})

test('Watched.unwatch whose watch a persistent one was to take over, which is given up before it is sent, takes it off the server', async () => {
  const { zk, connection } = await connected(new VirtualWorld())
  const reading = outcome(zk.getDataAndWatch('/a'))
  connection.reply(await connection.expect(OpCode.getData), GetDataResponse, nodeData('x'))
  await connection.expectNothing()
  const stopping = new AbortController()
  const watching = outcome((async () => await zk.watch('/a', { signal: stopping.signal }))())
  const unwatching = outcome(reading.value.unwatch())
  stopping.abort(new Error('enough'))
  const removal = await connection.expect(OpCode.removeWatches)
  connection.reply(removal)
  await connection.expectNothing()
  expect([watching.status, unwatching.status]).toEqual(['rejected', 'fulfilled'])
})

test('removeWatches without a watch rejects with an error that says where', async () => {
  const world = new VirtualWorld()
  const { zk } = await connected(world, { chroot: '/app' })
  const removing = outcome(zk.removeWatches('/a'))
  await world.settle()
  const where = { chroot: '/app', server: 'zk1:2181', sessionId: zk.session.id }
  expect(removing.error).toMatchObject({ code: 'NoWatcher', op: 'removeWatches', path: '/a', ...where })
})
