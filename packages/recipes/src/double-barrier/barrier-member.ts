// One member of a double barrier: an ephemeral node of one session, from entering to leaving. The nodes are those of Curator's
// DistributedDoubleBarrier: the members' below the path, and `ready`, which is made when enough are there.
import {
  type ACL,
  type CallOptions,
  type Children,
  type Data,
  KeeperError,
  op,
  type Session,
  type Stat,
  type Watched,
  type ZooKeeper,
} from '@zk/client'
import { onAbort, throwIfAborted } from '@zk/client/internal'
import { OwnedNode } from '../kernel/owned-node.ts'
import { afterCommit, committedCheck } from '../kernel/committed.ts'
import { ifMissing } from '../kernel/if-missing.ts'
import { NodeVanished, vanishedIfMissing } from '../kernel/sessions.ts'
import { pinnedTo, retry, retryAcrossSessions } from '../kernel/retry.ts'
import { awaitedLater, settled, unwatch } from '../kernel/promises.ts'

const READY = 'ready'
/** A list with this many names costs about as much as a read. */
const NAMES_PER_READ = 64

export interface BarrierMemberOptions {
  readonly size: number
  /** The beginning of the node's name. */
  readonly prefix: string
  readonly data: Data
  readonly acl: readonly ACL[] | undefined
  /** The paths of this member's nodes in earlier sessions. */
  readonly former: readonly string[]
}

/** The others that were inside when this one left. Those that enter later are of the next round. */
interface Round {
  /** The names of members that may still be there. They are awaited one after the other, the last first. */
  others: string[]
  /** The last opening by then: nodes that were made later are not meant. They have not entered, and may wait for this round to end. */
  readonly zxid: bigint
  /** The version of `ready` then. It is undefined without one: another program has deleted it. */
  readonly version: number | undefined
  /** The first by name stays to the end: the others wait for it alone, and it waits for one after the other. */
  readonly isFirst: boolean
}

export class BarrierMember {
  readonly session: Session
  readonly #zk: ZooKeeper
  readonly #barrier: string
  readonly #options: BarrierMemberOptions
  readonly #node: OwnedNode
  readonly #pinned: ReturnType<typeof pinnedTo>
  readonly #gone = new AbortController()
  readonly #watches = new Set<Watched>()
  #creating: Promise<bigint> | undefined
  #round: Promise<Round> | undefined
  #removing: Promise<void> | undefined
  #present: readonly string[] = []
  /** Its node is not needed any more. */
  #isOver = false

  constructor(zk: ZooKeeper, barrier: string, options: BarrierMemberOptions) {
    this.#zk = zk
    this.#barrier = barrier
    this.#options = options
    this.session = zk.session
    this.#node = new OwnedNode(zk, this.session, `${barrier}/${options.prefix}${zk.runtime.uuid()}`)
    this.#pinned = pinnedTo(this.session)
  }

  get path(): string {
    return this.#node.path
  }

  /** Aborts when the node is gone before this member has left. */
  get gone(): AbortSignal {
    return this.#gone.signal
  }

  /** The paths of the members that were there when last seen, this one included until it leaves. */
  get present(): readonly string[] {
    return this.#present.map((name) => this.#pathOf(name))
  }

  /** How many members were there when last seen. */
  get count(): number {
    return this.#present.length
  }

  // --- entering -------------------------------------------------------------------------------------------------

  /** Resolves when there were `size` members at one moment since this member entered. Calls `mustWait` before it waits for others. */
  async enter(mustWait: () => void): Promise<void> {
    const { data, acl, size, former } = this.#options
    if (former.length > 0) {
      await this.#formerGone()
      this.#throwIfOver()
    }
    this.#creating = retry(this.#zk, () => this.#node.create(data, acl, true))
    const czxid = await this.#creating
    void this.#watchOwn()
    for (;;) {
      this.#throwIfOver()
      const { connection } = this.session
      const looking = this.#look()
      const ready = await looking.ready
      this.#watches.add(ready)
      try {
        this.#present = await looking.members
        this.#throwIfOver()
        // One that is older is of an earlier round: those in it still leave, or have all died.
        if (ready.stat !== undefined && ready.stat.mzxid > czxid) return
        if (!this.#present.includes(nameIn(this.path))) throw new NodeVanished()
        if (this.#present.length >= size) {
          if (await this.#open(ready.stat)) return
          continue
        }
        mustWait()
        const event = await this.#changed(ready, connection?.signal)
        if (event === 'NodeCreated' || event === 'NodeDataChanged') return this.#throwIfOver()
      } finally {
        this.#unwatch(ready)
      }
    }
  }

  /** The servers may keep a session for longer than the client did. Its node would count beside the new one. */
  async #formerGone(): Promise<void> {
    await afterCommit(this.#zk, this.#barrier, this.#pinned)
    for (const path of this.#options.former) await this.#deleted(path)
  }

  async #deleted(path: string): Promise<void> {
    for (let isGone = false; !isGone;) {
      this.#throwIfOver()
      const watch = await retry(this.#zk, () => this.#zk.existsAndWatch(path, this.#pinned))
      this.#watches.add(watch)
      if (this.#isOver) this.#unwatch(watch)
      isGone = watch.stat === undefined || (await watch.changed).type === 'NodeDeleted'
      this.#unwatch(watch)
    }
  }

  /** The list comes behind the create on one connection: so the last one to enter sees all others. */
  #look() {
    const watching = () => this.#zk.existsAndWatch(this.#pathOf(READY), this.#pinned)
    const listing = () => this.#zk.getChildren(this.#barrier, this.#pinned)
    const ready = retry(this.#zk, watching)
    const members = retry(this.#zk, listing).then(({ children }) => children.filter(isMember), vanishedIfMissing)
    return { ready, members: awaitedLater(members) }
  }

  /**
   * Writes `ready`, if `size` members are there at that moment: all that wait then are woken by it, and were among them. Its
   * version counts the openings. False when it must look again: one has gone, or another member was faster.
   */
  async #open(known: Stat | undefined): Promise<boolean> {
    const { acl, size } = this.#options
    const own = nameIn(this.path)
    const others = this.#present.filter((name) => name !== own)
    const checks = [own, ...others.slice(0, size - 1)].map((name) => op.check(this.#pathOf(name)))
    const ready = this.#pathOf(READY)
    const opening =
      known === undefined ? op.create(ready, '', { acl }) : op.setData(ready, '', { version: known.version })
    try {
      await retry(this.#zk, () => this.#zk.multi([...checks, opening], this.#pinned))
      return true
    } catch (error) {
      if (KeeperError.is(error, 'NodeExists', 'NoNode', 'BadVersion')) return false
      throw error
    }
  }

  /** What has happened to `ready`. undefined when the connection was lost, or the own node: a change may have been missed. */
  async #changed(ready: Watched, connection: AbortSignal | undefined): Promise<string | undefined> {
    const unlisten: (() => void)[] = []
    const disturbed = new Promise<undefined>((resolve) => {
      for (const signal of [connection, this.#gone.signal])
        if (signal !== undefined) unlisten.push(onAbort(signal, () => resolve(undefined)))
    })
    try {
      return (await Promise.race([ready.changed, disturbed]))?.type
    } finally {
      for (const each of unlisten) each()
    }
  }

  /** Until the node is gone, or this member leaves. */
  async #watchOwn(): Promise<void> {
    while (!this.#isOver) {
      try {
        const watch = await retry(this.#zk, () => this.#zk.existsAndWatch(this.path, this.#pinned))
        this.#watches.add(watch)
        if (this.#isOver) return this.#unwatch(watch)
        const { type } = watch.stat === undefined ? { type: 'NodeDeleted' } : await watch.changed
        this.#unwatch(watch)
        if (type !== 'NodeDeleted') continue
        return this.lose(new KeeperError('NoNode', { op: 'DoubleBarrier', path: this.path }))
      } catch (error) {
        return this.lose(error)
      }
    }
  }

  /** It is no longer inside, although it has not left. */
  lose(reason: unknown): void {
    if (!this.#isOver) this.#gone.abort(reason)
  }

  // --- leaving --------------------------------------------------------------------------------------------------

  /**
   * Resolves when all members that were inside at the call have left, or are gone with their sessions. Calls `mustWait` before it
   * waits for one of them.
   */
  async leave(signal: AbortSignal, mustWait: () => void): Promise<void> {
    const round = await (this.#round ??= this.#listed())
    if (!round.isFirst) await this.remove()
    await this.#othersGone(round, signal, mustWait)
    if (round.isFirst) await this.#removeLast(round)
    else await this.#removeOldReady(round, signal)
  }

  /** A further `leave` waits for the same members. After an error it lists again. */
  async #listed(): Promise<Round> {
    try {
      return await this.#list()
    } catch (error) {
      this.#round = undefined
      throw error
    }
  }

  async #list(): Promise<Round> {
    throwIfAborted(this.#gone.signal)
    const { ready, list } = await retry(this.#zk, () => this.#checkAndList())
    const { children, stat } = list
    const own = nameIn(this.path)
    const members = children.filter(isMember)
    if (!members.includes(own)) throw new KeeperError('NoNode', { op: 'leave', path: this.path })
    const others = members.filter((name) => name !== own)
    const isFirst = others.every((name) => own < name)
    // The first member waits for the last, all others wait for the first.
    others.sort()
    if (!isFirst) others.reverse()
    return { others, zxid: ready?.mzxid ?? stat.pzxid, version: ready?.version, isFirst }
  }

  /**
   * In one segment. The list comes behind a committed request: so it shows all that had entered by now, also those that came later
   * than `size`. `ready` comes first: so all that it has let in, and
   * that are not gone, are in the list.
   */
  async #checkAndList(): Promise<{ readonly ready: Stat | undefined; readonly list: Children }> {
    const checking = committedCheck(this.#zk, this.path, this.#pinned)
    const looking = awaitedLater(this.#zk.exists(this.#pathOf(READY), this.#pinned))
    const listing = awaitedLater(this.#zk.getChildren(this.#barrier, this.#pinned))
    await checking
    return { ready: await looking, list: await listing }
  }

  /**
   * A list shows at once who else has left. It costs as much as reads of some of the nodes, so after each read it makes at most one
   * list for each `NAMES_PER_READ` names. So all lists together cost no more than the reads, in whatever order members leave.
   */
  async #othersGone(round: Round, signal: AbortSignal, mustWait: () => void): Promise<void> {
    for (let saved = Infinity; ;) {
      const { others } = round
      this.#present = others
      const awaited = others.at(-1)
      if (awaited === undefined) return
      await this.#memberGone(awaited, round.zxid, signal, mustWait)
      saved += NAMES_PER_READ
      // Another call of `leave` may have noticed it first.
      if (round.others.at(-1) === awaited) round.others.pop()
      if (round.others.length === 0 || saved < round.others.length) continue
      saved = 0
      const list = await retryAcrossSessions(this.#zk, () => this.#listPresent(signal), signal)
      const listed = new Set(list?.children)
      round.others = round.others.filter((name) => listed.has(name))
    }
  }

  async #memberGone(name: string, zxid: bigint, signal: AbortSignal, mustWait: () => void): Promise<void> {
    for (;;) {
      const watch = await retryAcrossSessions(this.#zk, () => this.#watchMember(name, signal), signal)
      const { stat } = watch
      // A node of no session is no member's.
      const isGone = stat === undefined || stat.czxid > zxid || stat.ephemeralOwner === 0n
      if (!isGone) {
        this.#watches.add(watch)
        mustWait()
      }
      const stop = onAbort(signal, () => this.#unwatch(watch))
      const event = isGone ? undefined : await watch.changed
      stop()
      this.#unwatch(watch)
      throwIfAborted(signal)
      if (isGone || event?.type === 'NodeDeleted') return
    }
  }

  /** For a read that shows all that this member has seen: in a later session a server may not show it yet. */
  async #upToDate(signal: AbortSignal): Promise<CallOptions> {
    const { session } = this.#zk
    const options = { session, repeatThrottled: false, signal }
    if (session !== this.session) await afterCommit(this.#zk, this.#barrier, options)
    return options
  }

  async #listPresent(signal: AbortSignal): Promise<Children | undefined> {
    const listing = (options: CallOptions) => this.#zk.getChildren(this.#barrier, options)
    return await ifMissing(listing, await this.#upToDate(signal), undefined)
  }

  async #watchMember(name: string, signal: AbortSignal) {
    return await this.#zk.existsAndWatch(this.#pathOf(name), await this.#upToDate(signal))
  }

  /** With its node goes `ready`: all others wait for this. It stays when it has let others in meanwhile. */
  async #removeLast({ version }: Round): Promise<void> {
    this.#stop()
    if (version !== undefined) {
      const ready = op.delete(this.#pathOf(READY), { version })
      // An earlier `leave` may have deleted its node.
      const ops = this.#removing === undefined ? [op.delete(this.path), ready] : [ready]
      await settled(retry(this.#zk, () => this.#zk.multi(ops, this.#pinned)))
    }
    await this.remove()
  }

  /** The one that would have deleted it has died. */
  async #removeOldReady({ zxid }: Round, signal: AbortSignal): Promise<void> {
    const ready = this.#pathOf(READY)
    const reading = () => this.#zk.exists(ready, { signal })
    const stat = await retryAcrossSessions(this.#zk, reading, signal)
    if (stat === undefined || stat.mzxid > zxid) return
    const { version } = stat
    const deleting = (options: CallOptions) =>
      retryAcrossSessions(this.#zk, () => this.#zk.delete(ready, { ...options, version }), signal)
    await ifMissing(deleting, { signal }, undefined).catch((error: unknown) => {
      if (!KeeperError.is(error, 'BadVersion')) throw error
    })
  }

  /** Gives up: deletes the node, in the background until that is confirmed or the session has ended. Idempotent. */
  remove(): Promise<void> {
    if (this.#removing === undefined) {
      this.#stop()
      this.#removing = this.#remove()
      this.session.waitUntil(this.#removing)
    }
    return this.#removing
  }

  async #remove(): Promise<void> {
    await settled(this.#creating)
    // It checks the node. A further `leave` needs it.
    await settled(this.#round)
    // A refusal was logged.
    await settled(this.#node.delete())
  }

  /** From now on its node is not missed. */
  #stop(): void {
    this.#isOver = true
    for (const watch of this.#watches) this.#unwatch(watch)
  }

  #unwatch(watch: Watched): void {
    this.#watches.delete(watch)
    unwatch(watch)
  }

  #throwIfOver(): void {
    throwIfAborted(this.session.detaching)
    throwIfAborted(this.session.signal)
    // Its own node may not be read: another one would not do better.
    const { aborted: isGone, reason } = this.#gone.signal
    if (KeeperError.is(reason, 'NoAuth')) throw reason
    if (this.#isOver || isGone) throw new NodeVanished()
  }

  #pathOf(name: string): string {
    return `${this.#barrier}/${name}`
  }
}

const isMember = (name: string) => name !== READY
const nameIn = (path: string) => path.slice(path.lastIndexOf('/') + 1)
