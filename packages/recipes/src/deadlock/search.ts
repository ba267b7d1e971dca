// Looks for a cycle: from a node that waits, through the nodes that block it and the nodes for which their tasks wait, to a node
// of the own task.
//
//     a node waits for those ahead of it in its line that exclude it: the list shows it
//     a node stays until its task has what it waits for:              its data shows it (marks.ts)
import { type CallOptions, KeeperError, type Session, type ZooKeeper } from '@zk/client'
import type { DeadlockStep } from '../errors.ts'
import { type ContenderName, type Kind, parseName } from '../queue/names.ts'
import { nameIn, parentOf } from '../queue/own-node.ts'
import { pinnedTo, retry } from '../calls/retry.ts'
import { exclusive, reader, writer } from '../queue/roles.ts'
import { isExhausted } from '../queue/sequences.ts'
import { readMarks, relative } from './marks.ts'

/** The largest number of nodes that one search follows. */
const MOST_NODES = 1_000

/** The kinds that a node of each kind waits for. */
const waitedFor = new Map<Kind, readonly Kind[]>([
  [exclusive.kind, [exclusive.kind]],
  [reader.kind, [writer.kind]],
  [writer.kind, [reader.kind, writer.kind]],
])
const kinds = [...waitedFor.keys()]

/** A node that was reached. */
interface Reached {
  readonly path: string
  readonly from: Reached | undefined
}

/** What a node says. */
interface Said {
  readonly waitsFor: readonly string[]
  readonly step: DeadlockStep
}

const utf8 = new TextDecoder()

/** One search. What it has read it does not read again. All paths are those in the ensemble. */
export class Search {
  readonly #zk: ZooKeeper
  readonly #options: CallOptions
  readonly #before: bigint
  readonly #lists = new Map<string, Promise<readonly ContenderName[]>>()
  readonly #said = new Map<string, Promise<Said | undefined>>()

  /**
   * `before` is the zxid of the transaction by which the own task wrote for what it waits. Only what others wrote before counts. So
   * of all tasks in a cycle only the one that closed it finds it.
   */
  constructor(zk: ZooKeeper, session: Session, before: bigint) {
    this.#zk = zk
    this.#options = pinnedTo(session)
    this.#before = before
  }

  /** The shortest cycle from this node to another of `own`, both included; undefined if there is none. */
  async cycle(start: string, own: ReadonlySet<string>): Promise<readonly DeadlockStep[] | undefined> {
    const seen = new Set([start])
    let wave: Reached[] = [{ path: start, from: undefined }]
    while (wave.length > 0 && seen.size <= MOST_NODES) {
      const nexts = await Promise.all(wave.map((each) => this.#after(each)))
      const reached: Reached[] = []
      for (const [index, paths] of nexts.entries()) {
        for (const path of paths) {
          if (seen.has(path)) continue
          seen.add(path)
          const each = { path, from: wave[index] }
          const steps = own.has(path) ? await this.#steps(each) : undefined
          if (steps !== undefined) return steps
          reached.push(each)
        }
      }
      wave = reached
    }
    return undefined
  }

  /** The nodes for which this one waits, or for which its task does. */
  async #after({ path, from }: Reached): Promise<readonly string[]> {
    // The task of the first one is the own one, and waits for no more than its own nodes.
    const saying = from === undefined ? undefined : this.#say(path)
    const blockers = this.#blockers(path)
    blockers.catch(() => {})
    const said = await saying
    // It has left since the list was read: others may be a way round.
    if (from !== undefined && said === undefined) return []
    const marked = await Promise.all((said?.waitsFor ?? []).map((mark) => this.#find(mark)))
    return [...(await blockers), ...marked.filter((each) => each !== undefined)]
  }

  /** The nodes ahead in its line that exclude it; none if its number does not give the order. */
  async #blockers(path: string): Promise<readonly string[]> {
    const parent = parentOf(path)
    const names = await this.#list(parent)
    const own = names.find(({ name }) => name === nameIn(path))
    if (own === undefined || isExhausted(own.sequence)) return []
    const blocking = waitedFor.get(own.kind)!
    const ahead = names.filter(({ kind, sequence }) => sequence < own.sequence && blocking.includes(kind))
    return ahead.sort((one, other) => one.sequence - other.sequence).map(({ name }) => `${parent}/${name}`)
  }

  /** The node with this mark. */
  async #find(mark: string): Promise<string | undefined> {
    const parent = parentOf(mark)
    const names = await this.#list(parent)
    const found = names.find(({ name }) => name.startsWith(nameIn(mark)))
    return found && `${parent}/${found.name}`
  }

  #list(parent: string): Promise<readonly ContenderName[]> {
    return memoized(this.#lists, parent, async () => {
      const list = await this.#read(parent, (each) => this.#zk.getChildren(each, this.#options))
      return (list?.children ?? []).map((name) => parseName(name, kinds)).filter((name) => name !== undefined)
    })
  }

  #say(path: string): Promise<Said | undefined> {
    return memoized(this.#said, path, async () => {
      const node = await this.#read(path, (each) => this.#zk.getData(each, this.#options))
      if (node === undefined) return undefined
      const { label, waitsFor } = readMarks(node.data)
      const step = { path, label: utf8.decode(label), sessionId: node.stat.ephemeralOwner }
      return { waitsFor: node.stat.mzxid < this.#before ? waitsFor : [], step }
    })
  }

  /** undefined if the node is gone, or may not be read, or is not below the chroot of this client. */
  async #read<T>(path: string, call: (path: string) => Promise<T>): Promise<T | undefined> {
    const readable = relative(this.#zk, path)
    if (readable === undefined) return undefined
    try {
      return await retry(this.#zk, () => call(readable))
    } catch (error) {
      if (KeeperError.is(error, 'NoNode', 'NoAuth')) return undefined
      throw error
    }
  }

  async #steps(last: Reached): Promise<readonly DeadlockStep[] | undefined> {
    const steps: DeadlockStep[] = []
    for (let each: Reached | undefined = last; each !== undefined; each = each.from) {
      const said = await this.#say(each.path)
      if (said === undefined) return undefined
      steps.unshift(said.step)
    }
    return steps
  }
}

function memoized<T>(known: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const made = known.get(key) ?? make()
  known.set(key, made)
  return made
}
