// Leaving a double barrier: a member waits until all members that were inside have left. As on ZooKeeper's recipe page, the
// first by name waits for the others, one after the other, and all others delete their nodes at once and wait only for the
// first.
import { type CallOptions, type Children, KeeperError, op, type Stat } from '@zk/client'
import { onAbort, throwIfAborted } from '@zk/client/internal'
import { afterCommit, committedCheck } from '../kernel/committed.ts'
import { ifMissing } from '../kernel/if-missing.ts'
import { settled } from '../kernel/promises.ts'
import { inOneSegment, pinnedTo, retry, retryAcrossSessions } from '../kernel/retry.ts'
import { type BarrierMember, membersOf } from './barrier-member.ts'

/** A list with this many names costs about as much as a read. */
const NAMES_PER_READ = 64

/** The other members that were inside when this one left. Members that enter later belong to the next round. */
interface Round {
  /** The names of members that may still be inside. They are awaited one after the other, the last first. */
  others: string[]
  /**
   * The last opening by then: nodes that were created later do not count. Their members have not entered, and may wait for this
   * round to end.
   */
  readonly zxid: bigint
  /** The version of `ready` then; undefined if it does not exist, because another program has deleted it. */
  readonly version: number | undefined
  /** The first by name stays to the end: the others wait only for it, and it waits for one after the other. */
  readonly isFirst: boolean
}

export class Leaving {
  readonly #member: BarrierMember
  #round: Promise<Round> | undefined

  constructor(member: BarrierMember) {
    this.#member = member
  }

  /**
   * Resolves when all members that were inside at the call have left, or are gone with their sessions. Calls `mustWait` before it
   * waits for any of them.
   */
  async leave(signal: AbortSignal, mustWait: () => void): Promise<void> {
    const round = await (this.#round ??= this.#member.using(this.#listed()))
    if (!round.isFirst) await this.#member.remove()
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
    const { gone, name: own, path } = this.#member
    throwIfAborted(gone)
    const { ready, list } = await retry(this.#member.zk, () => this.#checkAndList())
    const { children, stat } = list
    const members = membersOf(children)
    if (!members.includes(own)) throw new KeeperError('NoNode', { op: 'leave', path })
    const others = members.filter((name) => name !== own)
    const isFirst = others.every((name) => own < name)
    // The first member waits for the last, all others wait for the first.
    others.sort()
    if (!isFirst) others.reverse()
    return { others, zxid: ready?.mzxid ?? stat.pzxid, version: ready?.version, isFirst }
  }

  /**
   * In one segment. The list comes after a committed request: so it shows all members that had entered by now, including members
   * beyond `size`. `ready` comes first: so all members that it has let in, and that are not gone, are in the list.
   */
  async #checkAndList(): Promise<{ readonly ready: Stat | undefined; readonly list: Children }> {
    const { zk, session, barrier, path, ready } = this.#member
    const pinned = pinnedTo(session)
    const checking = committedCheck(zk, path, pinned)
    const looking = inOneSegment(checking, () => zk.exists(ready, pinned))
    const listing = inOneSegment(looking, () => zk.getChildren(barrier, pinned))
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
      this.#member.present = others
      const awaited = others.at(-1)
      if (awaited === undefined) return
      await this.#memberGone(awaited, round.zxid, signal, mustWait)
      saved += NAMES_PER_READ
      // Another call of `leave` may have noticed it first.
      if (round.others.at(-1) === awaited) round.others.pop()
      if (round.others.length === 0 || saved < round.others.length) continue
      saved = 0
      const list = await retryAcrossSessions(this.#member.zk, () => this.#listPresent(signal), signal)
      const listed = new Set(list?.children)
      round.others = round.others.filter((name) => listed.has(name))
    }
  }

  async #memberGone(name: string, zxid: bigint, signal: AbortSignal, mustWait: () => void): Promise<void> {
    for (;;) {
      const watch = await retryAcrossSessions(this.#member.zk, () => this.#watchMember(name, signal), signal)
      const { stat } = watch
      // A node without a session does not belong to a member.
      const isGone = stat === undefined || stat.czxid > zxid || stat.ephemeralOwner === 0n
      if (!isGone) {
        this.#member.keep(watch)
        mustWait()
      }
      const stop = onAbort(signal, () => this.#member.unwatch(watch))
      const event = isGone ? undefined : await watch.changed
      stop()
      this.#member.unwatch(watch)
      throwIfAborted(signal)
      if (isGone || event?.type === 'NodeDeleted') return
    }
  }

  /** Options for a read that shows all that this member has seen: in a later session a server may not show it yet. */
  async #upToDate(signal: AbortSignal): Promise<CallOptions> {
    const { zk, barrier } = this.#member
    const { session } = zk
    const options = { session, repeatThrottled: false, signal }
    if (session !== this.#member.session) await afterCommit(zk, barrier, options)
    return options
  }

  async #listPresent(signal: AbortSignal): Promise<Children | undefined> {
    const { zk, barrier } = this.#member
    const listing = (options: CallOptions) => zk.getChildren(barrier, options)
    return await ifMissing(listing, await this.#upToDate(signal), undefined)
  }

  async #watchMember(name: string, signal: AbortSignal) {
    return await this.#member.zk.existsAndWatch(this.#member.pathOf(name), await this.#upToDate(signal))
  }

  /** Deletes `ready` together with the node that all others wait for. `ready` stays if it has let others in meanwhile. */
  async #removeLast({ version }: Round): Promise<void> {
    const { zk, session, path, ready } = this.#member
    this.#member.stop()
    if (version !== undefined) {
      const deleting = op.delete(ready, { version })
      // An earlier `leave` may have deleted its node.
      const ops = this.#member.isRemoved ? [deleting] : [op.delete(path), deleting]
      await settled(retry(zk, () => zk.multi(ops, pinnedTo(session))))
    }
    await this.#member.remove()
  }

  /** Deletes `ready` if the member that should have deleted it has died. */
  async #removeOldReady({ zxid }: Round, signal: AbortSignal): Promise<void> {
    const { zk, ready } = this.#member
    const stat = await retryAcrossSessions(zk, () => zk.exists(ready, { signal }), signal)
    if (stat === undefined || stat.mzxid > zxid) return
    const { version } = stat
    const deleting = (options: CallOptions) =>
      retryAcrossSessions(zk, () => zk.delete(ready, { ...options, version }), signal)
    await ifMissing(deleting, { signal }, undefined).catch((error: unknown) => {
      if (!KeeperError.is(error, 'BadVersion')) throw error
    })
  }
}
