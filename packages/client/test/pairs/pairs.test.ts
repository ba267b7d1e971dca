// Every call before every other call on one node. However closely the second follows the first, both have the outcomes, and
// everything that watches receives the events, that there are when the second waits for the first.
//
// The test command draws a part of the pairs. Long form: ZK_PAIRS=all.
import { VirtualWorld } from '@zk/testing'
import { describe, expect, test } from 'vitest'
import {
  connect,
  KeeperError,
  type PersistentWatchEvent,
  type WatchIterator,
  type Watched,
  type ZooKeeper,
} from '../../src/index.ts'
import { type Call, calls, type Limits } from '../support/calls.ts'
import { outcome, type Outcome } from '../support/index.ts'
import { plain } from '../support/plain.ts'
import { describeEvent } from '../watching/watching.ts'

/** All calls are on this node: what one does to it, the next one meets. */
const PATH = '/n'

/** One pair in so many is played. Another part of them with each beginning. */
const ONE_IN = process.env['ZK_PAIRS'] === 'all' ? 1 : 12
/** More than a round trip, in ms: it takes 2 at most. */
const ROUND = 10
/** More than a reconnection, in ms. */
const RECONNECTION = 2_000

interface Scene {
  readonly world: VirtualWorld
  readonly zk: ZooKeeper
  readonly other: ZooKeeper
  /** What each watcher received. */
  readonly events: Map<string, string[]>
}

interface Story {
  readonly first: string
  readonly second: string
  readonly events: Readonly<Record<string, readonly string[]>>
  readonly nodes: unknown
  /** Those that the server has at the end. */
  readonly watches: readonly string[]
}

async function everyWatch(scene: Scene): Promise<void> {
  await scene.zk.create(PATH, 'old', { mode: 'EPHEMERAL' })
  for (const call of calls) if (call.setsWatch) await make(scene, call, 'before')
}

/** What is there before the first call. */
const beginnings = {
  'a node with a child': async ({ other }: Scene) => {
    await other.create(PATH, 'old')
    await other.create(`${PATH}/c`, 'child')
  },
  'no node': async () => {},
  'a node of the session, with every watch': everyWatch,
  // Such a server keeps one watch for a path and a connection.
  'a node of the session, with every watch, on a server of 3.8': everyWatch,
} as const

type Beginning = keyof typeof beginnings

interface Pair {
  readonly beginning: Beginning
  readonly first: Call
  readonly second: Call
}

/** Makes both calls. */
type Course = (
  scene: Scene,
  first: (limits?: Limits) => Outcome<unknown>,
  second: () => Outcome<unknown>,
) => Promise<readonly [first: Outcome<unknown>, second: Outcome<unknown>]>

const oneBehindTheOther: Course = async ({ world }, first, second) => {
  const one = first()
  await world.elapse(ROUND)
  return [one, second()]
}

const inOneTurn: Course = async (_, first, second) => [first(), second()]

/** The first one is sent, and has not arrived; or it is answered, and the answer has not arrived. */
const during =
  (way: 'requests' | 'replies', limits?: Limits): Course =>
  async ({ world }, first, second) => {
    world.network.stall(way, { process: world.runtime })
    const one = first(limits)
    await world.elapse(ROUND)
    const two = second()
    await world.elapse(ROUND)
    world.network.heal()
    return [one, two]
  }

const aborted: Course = async (scene, first, second) => {
  const abort = new AbortController()
  return during('requests')(
    scene,
    () => first({ signal: abort.signal }),
    () => {
      abort.abort(new Error('given up'))
      return second()
    },
  )
}

const changeByAnother = async ({ other }: Scene) => {
  await Promise.allSettled([other.setData(PATH, 'of another'), other.create(`${PATH}/o`)])
}

const changedInSequence: Course = async (scene, first, second) => {
  const one = first()
  await scene.world.elapse(ROUND)
  await changeByAnother(scene)
  await scene.world.elapse(ROUND)
  return [one, second()]
}

/** Both answers and the events between them arrive together. */
const changedDuring: Course = async (scene, first, second) => {
  const { world } = scene
  world.network.stall('replies', { process: world.runtime })
  const one = first()
  await world.elapse(ROUND)
  await changeByAnother(scene)
  const two = second()
  await world.elapse(ROUND)
  world.network.heal()
  return [one, two]
}

/** The second call is made when the client knows that the connection is lost. */
const answerLost: Course = async ({ world }, first, second) => {
  world.network.stall('replies', { process: world.runtime })
  const one = first()
  await world.elapse(ROUND)
  world.network.reset({ process: world.runtime })
  world.network.heal()
  await world.elapse(0)
  const two = second()
  await world.elapse(RECONNECTION)
  return [one, two]
}

async function make({ zk, events }: Scene, call: Call, when: string, limits: Limits = {}): Promise<unknown> {
  const answer = await call.make(zk, PATH, limits)
  if (call.setsWatch !== true) return answer
  const received: string[] = []
  events.set(`${when}: ${call.name}`, received)
  return follow(answer as Watched | WatchIterator<PersistentWatchEvent>, received)
}

/** The answer without the watch, whose events go to `received`. */
function follow(watch: Watched | WatchIterator<PersistentWatchEvent>, received: string[]): unknown {
  const failed = (error: unknown) => received.push(String(error))
  if ('changed' in watch) {
    const { changed, unwatch: _, ...answer } = watch
    changed.then((event) => received.push(JSON.stringify(event, plain)), failed)
    return answer
  }
  const loop = async () => {
    for await (const event of watch) received.push(describeEvent(event))
    received.push('ended')
  }
  loop().catch(failed)
  return 'watched'
}

async function play({ beginning, first, second }: Pair, course: Course): Promise<Story> {
  const isOld = beginning.includes('3.8')
  const world = new VirtualWorld({ members: 1, release: isOld ? '3.8' : '3.9' })
  return world.run(async () => {
    const zk = await connect(world.connectString, { runtime: world.runtime })
    const other = await connect(world.connectString, { runtime: world.addProcess() })
    const scene = { world, zk, other, events: new Map<string, string[]>() }
    await beginnings[beginning](scene)
    await world.elapse(ROUND)
    const [one, two] = await course(
      scene,
      (limits) => outcome(make(scene, first, 'first', limits)),
      () => outcome(make(scene, second, 'second')),
    )
    await world.elapse(ROUND)
    // Every watch that is left has an event.
    const child = `${PATH}/x`
    const changes = [
      () => other.setData(PATH, 'later'),
      () => other.create(child),
      () => other.setData(child, 'changed'),
      () => other.delete(child),
    ]
    for (const change of changes) await Promise.allSettled([change()])
    await world.elapse(ROUND)
    const nodes = [PATH, ...children.map((name) => `${PATH}/${name}`)].map((path) => world.ensemble.nodes.get(path))
    const watches: string[] = []
    const types = ['Data', 'Children', ...(isOld ? [] : (['Persistent', 'PersistentRecursive'] as const))] as const
    for (const type of types) {
      if (await zk.checkWatches(PATH, type)) watches.push(type)
    }
    expect(zk.stats().flow).toMatchObject({ waiting: 0 })
    await zk.close()
    await other.close()
    await world.elapse(ROUND)
    return {
      first: described(one),
      second: described(two),
      events: Object.fromEntries(scene.events),
      nodes: JSON.parse(JSON.stringify(nodes, plain)),
      watches,
    }
  })
}

const GIVEN_UP = /^rejected (RequestTimeout [^,]*|Error: given up)$/

/** All that the calls create. */
const children = ['c', 'd', 'e', 'm', 'o', 's-0000000000', 's-0000000001']

function described(result: Outcome<unknown>): string {
  if (result.status === 'pending') return 'pending'
  if (result.status === 'fulfilled') return `fulfilled ${JSON.stringify(result.value, plain)}`
  const { error } = result
  if (!KeeperError.is(error)) return `rejected ${String(error)}`
  return `rejected ${error.code} ${error.op} ${error.path}${error.outcomeUnknown ? ', outcome unknown' : ''}`
}

/** The server itself makes a difference, or the client's documentation does. */
function isException({ beginning, first, second }: Pair): boolean {
  // A server takes credentials as they arrive, ahead of requests that it has not executed (ZooKeeperServer.processPacket).
  if (second.name === 'addAuth') return first.name === 'whoAmI' || first.name === 'setACL auth'
  // The ACL of a change that is not yet executed is unknown to the check of the next request: PrepRequestProcessor keeps the
  // old one in its ChangeRecord.
  if (first.name.startsWith('setACL')) return second.isWrite === true
  // A removal takes effect here at the call: before events that are on their way, and for watches that are being set.
  return second.removesWatches === true && (first.setsWatch === true || beginning.includes('watch'))
}

const sequences = new Map<string, Promise<Story>>()

function sequenceOf(pair: Pair): Promise<Story> {
  const name = `${pair.beginning}, ${pair.first.name}, ${pair.second.name}`
  const sequence = sequences.get(name) ?? play(pair, oneBehindTheOther)
  sequences.set(name, sequence)
  return sequence
}

const pairs = (beginning: Beginning, first: Call): Pair[] =>
  calls.map((second) => ({ beginning, first, second })).filter((pair) => isDrawn(pair) && !isException(pair))

function isDrawn({ beginning, first, second }: Pair): boolean {
  const place = Object.keys(beginnings).indexOf(beginning) + calls.indexOf(first) + calls.indexOf(second)
  return place % ONE_IN === 0
}

describe.each(Object.keys(beginnings) as Beginning[])('%s', (beginning) => {
  describe.each(calls)('$name', (first) => {
    test.each(
      Object.entries({
        'in one turn': inOneTurn,
        'while the first is on the wire': during('requests'),
        'while the first answer is on the wire': during('replies'),
      }),
    )('before every other call %s is as one behind the other', async (_, course) => {
      for (const pair of pairs(beginning, first)) {
        expect(await play(pair, course), pair.second.name).toEqual(await sequenceOf(pair))
      }
    })

    test('before every other call, with events between the answers, is as one behind the other', async () => {
      for (const pair of pairs(beginning, first)) {
        if (pair.second.removesWatches) continue
        expect(await play(pair, changedDuring), pair.second.name).toEqual(await play(pair, changedInSequence))
      }
    })

    test('before every other call, when its answer is lost, is as one behind the other', async () => {
      for (const pair of pairs(beginning, first)) {
        const story = await play(pair, answerLost)
        const sequence = await sequenceOf(pair)
        expect(story.second, pair.second.name).toEqual(sequence.second)
        expect(story.nodes, pair.second.name).toEqual(sequence.nodes)
        expect(story.first, pair.second.name).toEqual(
          first.isWrite ? expect.stringMatching(/^rejected ConnectionLoss .*, outcome unknown$/) : sequence.first,
        )
        // A server compares zxids, so that a node that was deleted and created again has changed (DataTree.setWatches).
        if (first.name !== 'multi that replaces') expectAcrossGap(story.events, sequence.events)
      }
    })

    test.each(Object.entries({ 'that is late': during('replies', { timeout: 5 }), 'that is aborted': aborted }))(
      'before every other call, %s, is as one behind the other',
      async (_, course) => {
        for (const pair of pairs(beginning, first)) {
          const story = await play(pair, course)
          const sequence = await sequenceOf(pair)
          const givenUp = first.isWrite ? /^rejected (RequestTimeout .*, outcome unknown|Error: given up)$/ : GIVEN_UP
          // Without a watch here nothing is sent, so that nothing can be late.
          if (story.first !== sequence.first || !first.removesWatches)
            expect(story.first, pair.second.name).toMatch(givenUp)
          expect({ ...story, first: '', watches: [] }, pair.second.name).toEqual({
            ...sequence,
            first: '',
            watches: [],
            events: Object.fromEntries(
              Object.entries(sequence.events).filter(([watcher]) => !watcher.startsWith('first')),
            ),
          })
        }
      },
    )
  })
})

/** An iteration receives a Gap in place of what happened meanwhile. A one-shot watch receives that. */
function expectAcrossGap(events: Story['events'], inSequence: Story['events']): void {
  expect(Object.keys(events)).toEqual(Object.keys(inSequence))
  for (const [watcher, received] of Object.entries(events)) {
    const all = inSequence[watcher]!
    const [first, ...later] = received
    if (first === 'Gap reconnected') expect(later, watcher).toEqual(all.slice(all.length - later.length))
    // An event that a server sends for setWatches has no zxid.
    else expect(received.map(withoutZxid), watcher).toEqual(all.map(withoutZxid))
  }
}

const withoutZxid = (event: string) => event.replace(/,"zxid":"0x[0-9a-f]+"/, '')
