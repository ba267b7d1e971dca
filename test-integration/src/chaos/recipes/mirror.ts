import { setImmediate as nextEvent, setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '@zk/client'
import { KeeperError, Mirror, type MirroredNode, op, type ZooKeeper, type OpenMirror } from '@zk/recipes'
import { areSame, machineTime, type Note, ToldTree } from '../../history/index.ts'
import { type Log, type Recipe, type Stage } from '../recipe.ts'
import { isAtRest, readTree, type Written, wronglyShown } from '../true-tree.ts'

interface Stale extends Note {
  readonly what: 'stale'
}

/** It was stale for `took` ms. */
interface Whole extends Note {
  readonly what: 'whole'
  readonly took: number
}

/** A mirror was compared with the tree, behind a `synced` of `took` ms. */
interface Comparison extends Note {
  readonly what: 'compared'
  readonly took: number
  /** How many changes it has told since the last one. */
  readonly changes: number
  /** Whether nothing changed meanwhile. Then all nodes are compared, otherwise those that were the same throughout. */
  readonly isAtRest: boolean
}

interface Mistake extends Note {
  readonly what: 'mistake'
  readonly mistake: string
}

type Line = Stale | Whole | Comparison | Mistake
/** What of the tree is mirrored: so many levels, and no node with this name. */
interface Part {
  readonly depth?: number
  readonly without?: string
}

const NAMES = ['a', 'b', 'c']
const LEVELS = [1, 1, 2, 2, 3]
const WRITES = ['create', 'create', 'set', 'set', 'delete', 'again', 'branch', 'ephemeral'] as const
const WHOLE: Part = {}
const PARTS: readonly Part[] = [WHOLE, { depth: 0 }, { depth: 1 }, { depth: 2 }, { without: 'b' }]
/** The time between two looks at whether a mirror is stale, in ms. */
const ASKED_EVERY = 20

/**
 * All processes write one tree. Each has a mirror as long as it lives, and others for a while: of a part of the tree, and with a
 * slow reader.
 */
export const mirror: Recipe<Line> = {
  name: 'mirror',
  weakAfter: 'stale',
  keeps: ['', ...pathsBelow('', 4)],
  async prepare(zk, path) {
    await zk.create(path)
  },
  contenders(stage, log) {
    const { zk, path, process, turn, over } = stage
    let writes = 0
    const write = async () => {
      await sleep(Math.random() * 2 * turn)
      await writeOnce(zk, path, `${process} ${writes++}`).catch((error: unknown) => {
        // Others write the same nodes.
        if (!KeeperError.is(error)) throw error
      })
    }
    let lasting: WatchedMirror | undefined
    const follow = async (contender: string) => {
      lasting ??= await WatchedMirror.open(stage, { part: WHOLE, work: 0, contender, log })
      await sleep(Math.random() * 2 * turn)
      while (!(await lasting.compare()) && over.aborted) await sleep(ASKED_EVERY)
      if (over.aborted) await lasting.close()
    }
    const visit = async (contender: string) => {
      const work = Math.random() < 0.5 ? 0 : turn
      const visited = await WatchedMirror.open(stage, { part: pick(PARTS), work, contender, log })
      await sleep(Math.random() * 4 * turn)
      await visited.compare()
      await visited.close()
    }
    return { writer: write, follower: follow, visitor: visit }
  },
  judge(notes) {
    const comparisons = notes.filter((note) => note.what === 'compared')
    const whole = notes.filter((note) => note.what === 'whole')
    const longest = (steps: readonly { readonly took: number }[]) =>
      steps.reduce((most, { took }) => Math.max(most, took), 0)
    return {
      done: comparisons.length,
      unit: 'comparisons',
      counts: {
        changes: comparisons.reduce((sum, { changes }) => sum + changes, 0),
        'at rest': comparisons.filter((note) => note.isAtRest).length,
        'times stale': whole.length,
      },
      worst: { synced: longest(comparisons), stale: longest(whole) },
      violations: notes
        .filter((note) => note.what === 'mistake')
        .map(({ contender, at, mistake }) => `${contender} at ${at.toFixed(1)}: ${mistake}`),
    }
  },
}

interface Watching {
  /** What of the tree is mirrored. */
  readonly part: Part
  /** The longest time for which the reader works on a change, in ms. */
  readonly work: number
  readonly contender: string
  readonly log: Log<Line>
}

/** A mirror, and a reader of its changes. */
class WatchedMirror {
  readonly #zk: ZooKeeper
  readonly #mirror: OpenMirror
  readonly #part: Part
  readonly #contender: string
  readonly #log: Log<Line>
  readonly #told: ToldTree
  readonly #reading: Promise<void>
  readonly #looking: NodeJS.Timeout
  #work: number
  #working = Promise.resolve()
  #changes = 0
  /** The connection on which the content was last told to be whole. */
  #wholeOn: Connection | undefined
  #zxid = 0n
  #staleSince: number | undefined

  static async open({ zk, path }: Stage, watching: Watching): Promise<WatchedMirror> {
    const { depth, without } = watching.part
    const filter = without === undefined ? undefined : (each: string) => !each.endsWith(`/${without}`)
    return new WatchedMirror(zk, await new Mirror(zk, path, { depth, filter }).open(), watching)
  }

  private constructor(zk: ZooKeeper, mirror: OpenMirror, { part, work, contender, log }: Watching) {
    this.#zk = zk
    this.#mirror = mirror
    this.#part = part
    this.#work = work
    this.#contender = contender
    this.#log = log
    this.#told = new ToldTree(mirror.path)
    this.#reading = this.#read()
    this.#looking = setInterval(() => this.#look(), ASKED_EVERY)
  }

  /** Compares it with the tree. Resolves with whether the tree was at rest meanwhile. */
  async compare(): Promise<boolean> {
    const contender = this.#contender
    const { path } = this.#mirror
    const before = await readTree(this.#zk, path)
    const from = machineTime()
    await this.#mirror.synced({ timeout: Infinity })
    const took = machineTime() - from
    await this.#catchUp()
    const shown = new Map([...this.#mirror.entries()].map((node) => [node.path, node]))
    const paths = new Set([...shown.keys(), ...this.#told.nodes.keys()])
    for (const each of paths) {
      if (!areSame(shown.get(each), this.#told.nodes.get(each))) this.#wrong(`${each} is not as it was told`)
    }
    const after = await readTree(this.#zk, path)
    const written = new Map([...shown].map(([each, node]) => [each, writtenOf(node)]))
    const isWanted = (each: string) => isIn(this.#part, each.slice(path.length))
    for (const mistake of wronglyShown(before, after, written, isWanted)) this.#wrong(mistake)
    const wasAtRest = isAtRest(before, after)
    this.#log({ contender, what: 'compared', took, changes: this.#changes, isAtRest: wasAtRest })
    this.#changes = 0
    return wasAtRest
  }

  async close(): Promise<void> {
    clearInterval(this.#looking)
    await this.#mirror.close()
    await this.#reading
  }

  async #read(): Promise<void> {
    const isQuick = this.#work === 0
    let isInitial = !this.#mirror.isStale
    for await (const change of this.#mirror.watchChanges()) {
      this.#changes++
      if (change.type === 'Ready') {
        if (isQuick) this.#ready()
        isInitial = false
      } else {
        if (isQuick && isInitial && change.type !== 'Added') this.#wrong(`${change.type} comes before Ready`)
        this.#told.add(change)
        for (const mistake of this.#told.mistakes.splice(0)) this.#wrong(mistake)
      }
      if (this.#work > 0) await (this.#working = sleep(Math.random() * this.#work))
    }
  }

  /** A quick reader is told in the same event in which the content becomes whole. */
  #ready(): void {
    const { connection } = this.#zk.session
    if (this.#mirror.isStale) this.#wrong('Ready comes while it is stale')
    if (connection !== undefined && connection === this.#wholeOn) this.#wrong('Ready comes twice on one connection')
    this.#wholeOn = connection
  }

  /** The reader works no longer. It is told all that there is within one event. */
  async #catchUp(): Promise<void> {
    this.#work = 0
    await this.#working
    await nextEvent()
  }

  /** Called by a timer: so the mirror has handled the loss of a connection that came before. */
  #look(): void {
    const { isStale, zxid } = this.#mirror
    if (!isStale && this.#zk.session.connection === undefined) this.#wrong('is not stale without a connection')
    if (zxid < this.#zxid) this.#wrong(`its zxid goes back from ${this.#zxid} to ${zxid}`)
    this.#zxid = zxid
    if (isStale === (this.#staleSince !== undefined)) return
    const contender = this.#contender
    const at = machineTime()
    if (this.#staleSince === undefined) this.#log({ contender, what: 'stale', at })
    else this.#log({ contender, what: 'whole', at, took: at - this.#staleSince })
    this.#staleSince = isStale ? at : undefined
  }

  #wrong(mistake: string): void {
    this.#log({ contender: this.#contender, what: 'mistake', mistake })
  }
}

function writtenOf({ stat: { czxid, mzxid }, text = '' }: MirroredNode): Written {
  return { czxid, mzxid, text }
}

/** Whether the path, from the node on top, is mirrored. */
function isIn({ depth = Infinity, without }: Part, path: string): boolean {
  const names = path.split('/').slice(1)
  return names.length <= depth && !(without !== undefined && names.includes(without))
}

async function writeOnce(zk: ZooKeeper, root: string, text: string): Promise<unknown> {
  const path = root + Array.from({ length: pick(LEVELS) }, () => `/${pick(NAMES)}`).join('')
  switch (pick(WRITES)) {
    case 'create':
      return await zk.create(path, text, { parents: true })
    case 'ephemeral':
      return await zk.create(path, text, { mode: 'EPHEMERAL' })
    case 'set':
      return await zk.setData(Math.random() < 0.1 ? root : path, text)
    case 'delete':
      return await zk.delete(path)
    case 'again':
      return await zk.multi([op.delete(path), op.create(path, text)])
    case 'branch':
      return await zk.multi([op.create(path, text), op.create(`${path}/a`, text)])
  }
}

/** All paths of so many levels that may be written. */
function pathsBelow(path: string, levels: number): string[] {
  if (levels === 0) return []
  return NAMES.flatMap((name) => [`${path}/${name}`, ...pathsBelow(`${path}/${name}`, levels - 1)])
}

function pick<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)]!
}
