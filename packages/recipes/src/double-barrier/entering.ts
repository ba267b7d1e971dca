// Entering a double barrier: a member creates its node, and waits until `size` members exist at one moment. The last of them to
// enter writes `ready`, which wakes all.
import { type ACL, type Data, KeeperError, op, type Stat, type Watched } from '@zk/client'
import { onAbort } from '@zk/client/internal'
import { afterCommit } from '../kernel/committed.ts'
import { awaitedLater } from '../kernel/promises.ts'
import { pinnedTo, retry } from '../kernel/retry.ts'
import { NodeVanished, vanishedIfMissing } from '../kernel/sessions.ts'
import { type BarrierMember, membersOf } from './barrier-member.ts'

export interface EnteringOptions {
  readonly size: number
  readonly data: Data
  readonly acl: readonly ACL[] | undefined
  /** The paths of this member's nodes in earlier sessions. */
  readonly former: readonly string[]
}

export class Entering {
  readonly #member: BarrierMember
  readonly #options: EnteringOptions
  readonly #pinned: ReturnType<typeof pinnedTo>

  constructor(member: BarrierMember, options: EnteringOptions) {
    this.#member = member
    this.#options = options
    this.#pinned = pinnedTo(member.session)
  }

  /** Resolves when there were `size` members at one moment since this member entered. Calls `mustWait` before it waits for others. */
  async enter(mustWait: () => void): Promise<void> {
    const member = this.#member
    const { data, acl, size, former } = this.#options
    if (former.length > 0) {
      await this.#formerGone()
      member.throwIfOver()
    }
    const czxid = await member.create(data, acl)
    // In one segment with the first look.
    void member.watchOwn()
    for (;;) {
      member.throwIfOver()
      const { connection } = member.session
      const looking = this.#look()
      const ready = await looking.ready
      member.keep(ready)
      try {
        member.present = await looking.members
        member.throwIfOver()
        // If it is older, it belongs to an earlier round: its members are still leaving, or have all died.
        if (ready.stat !== undefined && ready.stat.mzxid > czxid) return
        if (!member.present.includes(member.name)) throw new NodeVanished()
        if (member.present.length >= size) {
          if (await this.#open(ready.stat)) return
          continue
        }
        mustWait()
        const event = await this.#changed(ready, connection?.signal)
        if (event === 'NodeCreated' || event === 'NodeDataChanged') return member.throwIfOver()
      } finally {
        member.unwatch(ready)
      }
    }
  }

  /** The servers may keep a session for longer than the client did. Then its node would count in addition to the new one. */
  async #formerGone(): Promise<void> {
    const member = this.#member
    await afterCommit(member.zk, member.barrier, this.#pinned)
    for (const path of this.#options.former) {
      do member.throwIfOver()
      while (!(await member.isDeleted(path)))
    }
  }

  /** The list comes after the create on one connection: so the last member to enter sees all others. */
  #look() {
    const { zk, barrier, ready: path } = this.#member
    const ready = retry(zk, () => zk.existsAndWatch(path, this.#pinned))
    const listing = retry(zk, () => zk.getChildren(barrier, this.#pinned))
    const members = listing.then(({ children }) => membersOf(children), vanishedIfMissing)
    return { ready, members: awaitedLater(members) }
  }

  /**
   * Writes `ready`, if `size` members exist at that moment. It wakes all waiting members, who were among these. Its version
   * counts the openings. False if this member must look again: a member has gone, or another was faster.
   */
  async #open(known: Stat | undefined): Promise<boolean> {
    const { acl, size } = this.#options
    const member = this.#member
    const others = member.present.filter((name) => name !== member.name)
    const checks = [member.name, ...others.slice(0, size - 1)].map((name) => op.check(member.pathOf(name)))
    const opening =
      known === undefined
        ? op.create(member.ready, '', { acl })
        : op.setData(member.ready, '', { version: known.version })
    try {
      await retry(member.zk, () => member.zk.multi([...checks, opening], this.#pinned))
      return true
    } catch (error) {
      if (KeeperError.is(error, 'NodeExists', 'NoNode', 'BadVersion')) return false
      throw error
    }
  }

  /** What has happened to `ready`. undefined if the connection was lost, or if our node is gone: a change may have been missed. */
  async #changed(ready: Watched, connection: AbortSignal | undefined): Promise<string | undefined> {
    const unlisten: (() => void)[] = []
    const disturbed = new Promise<undefined>((resolve) => {
      for (const signal of [connection, this.#member.gone])
        if (signal !== undefined) unlisten.push(onAbort(signal, () => resolve(undefined)))
    })
    try {
      return (await Promise.race([ready.changed, disturbed]))?.type
    } finally {
      for (const each of unlisten) each()
    }
  }
}
