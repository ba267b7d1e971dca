// The contenders of one path, in order.
import type { CallOptions, EnsureOptions, NodeData, ZooKeeper } from '@zk/client'
import { getChildNames, hex, pause } from '@zk/client/internal'
import { report } from './diagnostics.ts'
import { callEach } from '../kernel/call-each.ts'
import { ifMissing } from '../kernel/if-missing.ts'
import { ContenderList } from './contender-list.ts'
import type { ContenderName, Kind } from './names.ts'
import { isExhausted } from './sequences.ts'
import { retry } from '../kernel/retry.ts'
import { ContenderKinds } from './contender-kinds.ts'

/**
 * A contender that holds or waits. In JSON `sessionId` and `fencingToken` are text, `0x…`.
 */
export interface ContenderInfo {
  /** The path of its node. */
  readonly path: string
  /** Its kind: `lock`, `latch`, `read`, `write` or `semaphore`. */
  readonly kind: string
  /** Its place: 0 for the oldest. */
  readonly position: number
  /**
   * Whether it holds, as far as the list shows: no contender ahead blocks it. This is not certain. Its lease may not be proven
   * yet, its session may be over without the servers' knowledge, and if its node is part of a `MultiLock`, it may still wait on
   * another path (on a path of the same list, that is seen). If false, it was blocked, or not the leader, when the list was read.
   * undefined for a node of another program that takes a permit of a semaphore: it may still wait for room.
   */
  readonly isGranted: boolean | undefined
  /** The data of its node as text: the label of the contender. */
  readonly label: string
  /** The session that its node belongs to. */
  readonly sessionId: bigint
  /** When it queued, not when it was granted: its node was created then, by the leader's clock, in ms since the epoch. */
  readonly since: number
  /**
   * The czxid of its node, which is greater than the czxid of every older node of the path. After a downgrade the hold of the
   * reader has another token, the czxid of the writer's node.
   */
  readonly fencingToken: bigint
}

/** A contender, and the zxid of the transaction that created its node. */
interface Created {
  readonly contender: ContenderName
  readonly czxid: bigint
}

const utf8 = new TextDecoder()

export class Queue {
  readonly zk: ZooKeeper
  /** The parent of the contenders' nodes. */
  readonly path: string
  /** The path that users know: the path of the recipe. */
  readonly recipePath: string
  readonly #contenderKinds: ContenderKinds
  #hasReportedExhaustion = false

  constructor(zk: ZooKeeper, path: string, kinds: readonly Kind[], recipePath = path) {
    this.zk = zk
    this.path = path
    this.recipePath = recipePath
    this.#contenderKinds = new ContenderKinds(kinds)
  }

  /** The path in the ensemble: a view of the client may have another chroot. */
  get folder(): string {
    const { chroot } = this.zk
    return chroot === '/' ? this.path : `${chroot}${this.path}`
  }

  pathOf(name: string): string {
    return `${this.path}/${name}`
  }

  /** Creates the path, and what is missing above it, with this ACL: servers delete empty containers. */
  async make(options: EnsureOptions): Promise<void> {
    await retry(this.zk, () => this.zk.ensureContainer(this.path, options), options.signal)
  }

  /** Reads the contenders among the children of the path. Rejects with `NoNode` if the path does not exist. */
  list(options: CallOptions): Promise<ContenderList> {
    const listing = getChildNames(this.zk, this.path, options)
    return listing.then((names) => new ContenderList(names, this.#contenderKinds))
  }

  /** The parts of a name; undefined if it is not a contender of this queue. */
  parse(name: string): ContenderName | undefined {
    return this.#contenderKinds.parse(name)
  }

  /** Whether this contender has taken the place of an older one: see `successorName`. */
  isSuccessor(name: ContenderName): boolean {
    return !name.uuid.includes('-') && this.#contenderKinds.mayFollow(name)
  }

  /** Reads the czxids of these contenders, and sorts them, oldest first. Contenders that are gone are left out. */
  async byCreation(names: readonly ContenderName[], options: CallOptions): Promise<Created[]> {
    const asked = await callEach(names, async (contender) => {
      const asking = () => this.zk.exists(this.pathOf(contender.name), options)
      const stat = await retry(this.zk, asking, options.signal)
      return stat && { contender, czxid: stat.czxid }
    })
    const created = asked.filter((each) => each !== undefined)
    return created.sort((one, other) => (one.czxid < other.czxid ? -1 : 1))
  }

  /** All contenders, oldest first. A contender that leaves while their nodes are read is left out. */
  async contenders(options: CallOptions): Promise<ContenderInfo[]> {
    return await contendersOf([this], options)
  }

  /** What was read of these contenders, oldest first. `names` are sorted by their numbers. */
  inOrder(
    names: readonly ContenderName[],
    read: readonly (ContenderInfo | undefined)[],
    isInOrder: boolean,
  ): ContenderInfo[] {
    const present = read.filter((info) => info !== undefined)
    if (isInOrder) return this.#granted(numbered(present))
    const successors = new Set(names.flatMap((name, index) => (this.isSuccessor(name) ? (read[index] ?? []) : [])))
    const place = (info: ContenderInfo) => (successors.has(info) ? 0n : info.fencingToken)
    return this.#granted(numbered(present.sort((one, other) => (place(one) < place(other) ? -1 : 1))))
  }

  /** Sets who is granted, as far as this list shows: see `Kind.granted`. */
  #granted(infos: (ContenderInfo & { isGranted: boolean | undefined })[]): ContenderInfo[] {
    const ofKinds = new Map(this.#contenderKinds.kinds.map(({ name, granted = 'first' }) => [name, granted]))
    let isShared = true
    for (const info of infos) {
      const granted = ofKinds.get(info.kind)
      isShared &&= granted === 'all'
      info.isGranted = granted !== 'none' && (isShared || info.position === 0)
    }
    return infos
  }

  /** Reports, once, that the counter is used up, if the number of this contender shows it. */
  tellExhausted({ kind, sequence }: ContenderName): void {
    if (this.#hasReportedExhaustion || !isExhausted(sequence)) return
    this.#hasReportedExhaustion = true
    report(this.zk, 'zk:exhausted', kind.name, () => ({ path: this.recipePath, sequence }))
  }

  /** Describes a contender by the data and the Stat of its node. */
  info({ name, kind }: ContenderName, node: NodeData): ContenderInfo {
    return contenderInfo(this.pathOf(name), kind, node)
  }

  /** Reads a contender's node; undefined if it is gone. */
  async read(name: ContenderName, options: CallOptions): Promise<ContenderInfo | undefined> {
    const path = this.pathOf(name.name)
    const node = await ifMissing((asking) => this.zk.getData(path, asking), options, undefined)
    return node && this.info(name, node)
  }
}

/** The contenders of these queues, one queue after another, oldest first in each. See `Queue.contenders`. */
export async function contendersOf(queues: readonly Queue[], options: CallOptions): Promise<ContenderInfo[]> {
  const listing = queues.map(async (queue) => {
    const list = await ifMissing((asking) => queue.list(asking), options, undefined)
    const turn = () => pause(queue.zk.runtime, 0, options.signal)
    return { queue, names: (await list?.parsed(turn)) ?? [], isInOrder: list?.isInOrder ?? true }
  })
  const lists = await Promise.all(listing)
  // The reads of all queues share one window.
  const all = lists.flatMap(({ queue, names }) => names.map((name) => ({ queue, name })))
  const read = await callEach(all, ({ queue, name }) => queue.read(name, options))
  let start = 0
  const infos = lists.flatMap(({ queue, names, isInOrder }) => {
    const ofQueue = read.slice(start, start + names.length)
    start += names.length
    return queue.inOrder(names, ofQueue, isInOrder)
  })
  return queues.length === 1 ? infos : grantedInAll(infos)
}

/** The nodes of a `MultiLock` have one czxid. It holds only if it is granted in all of its queues. */
function grantedInAll(infos: (ContenderInfo & { isGranted: boolean | undefined })[]): ContenderInfo[] {
  const waiting = new Set(infos.filter(({ isGranted }) => !isGranted).map(({ fencingToken }) => fencingToken))
  for (const info of infos) info.isGranted = !waiting.has(info.fencingToken)
  return infos
}

/**
 * Describes a contender by the data and the Stat of its node. The list that shows its position, and whether it is granted, is
 * not known.
 */
export function contenderInfo(path: string, kind: Kind, node: NodeData): ContenderInfo {
  const { data, stat } = node
  return describedInJson({
    path,
    kind: kind.name,
    position: 0,
    isGranted: undefined,
    label: utf8.decode(data),
    sessionId: stat.ephemeralOwner,
    since: stat.ctime,
    fencingToken: stat.czxid,
  })
}

/** Sets the position of each of these objects, which no other code has yet. Copying 100,000 of them would take half a second. */
export function numbered<Info extends ContenderInfo>(infos: (Info & { position: number })[]): Info[] {
  for (const [position, info] of infos.entries()) info.position = position
  return infos
}

/** Adds a `toJSON` that turns bigints into text, since JSON has no bigint. */
function describedInJson<Info extends ContenderInfo>(info: Info): Info {
  const toJSON = () => {
    const { sessionId, fencingToken, ...others } = info
    return { ...others, sessionId: hex(sessionId), fencingToken: hex(fencingToken) }
  }
  return Object.defineProperty(info, 'toJSON', { value: toJSON })
}
