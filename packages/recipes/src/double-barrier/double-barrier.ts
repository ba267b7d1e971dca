import type { ACL, Session, WaitOptions, ZooKeeper } from '@zk/client'
import { onAbort, throwIfAborted } from '@zk/client/internal'
import { didNotOpen } from '../barrier/did-not-open.ts'
import { BarrierMember } from './barrier-member.ts'
import { Entering, type EnteringOptions } from './entering.ts'
import { Leaving } from './leaving.ts'
import { checkData, checkNames, checkOwnACL, checkPlace, checkWait, copyOf } from '../kernel/checks.ts'
import { type Limit, withLimitForOthers } from '../kernel/limit.ts'
import { inEachSession } from '../kernel/sessions.ts'

/** The options of `DoubleBarrier`. */
export interface DoubleBarrierOptions {
  /** How many members must enter before the first of them continues: 1 to 5,000. All members pass the same number. */
  size: number
  /** The beginning of the names of this program's nodes, for people. A uuid follows. @default none */
  name?: string | undefined
  /**
   * The ACL of the members' nodes, of `ready`, and of the path with the nodes above it if they are missing. It must grant READ, WRITE,
   * CREATE and DELETE to all members. Nodes that exist keep their ACL.
   * @default OPEN_ACL_UNSAFE
   */
  acl?: readonly ACL[] | undefined
}

/** How long to wait for the others, and what they see of this member. */
export interface EnterOptions extends WaitOptions {
  /**
   * The longest wait in ms, 0 or more. Then `enter` rejects with a `WaitTimeoutError`. With 0 it does not wait for other members, but
   * up to the session timeout for servers.
   * @default forever
   */
  timeout?: number | undefined
  /** The data of the member's node. @default empty */
  data?: Uint8Array | string | undefined
}

/** One transaction checks this many nodes. */
const MOST_MEMBERS = 5_000

const doubleBarrierOptions = ['size', 'name', 'acl']
const enterOptions = ['timeout', 'signal', 'data']
const leaveOptions = ['timeout', 'signal']

/**
 * Several members begin together, and end together. This is the double barrier of ZooKeeper's recipe page, with the nodes of
 * Curator's DistributedDoubleBarrier.
 *
 *     const barrier = new DoubleBarrier(zk, '/import', { size: 3 })
 *     const entry = await barrier.enter() // all three are present
 *     await importPart({ signal: entry.signal })
 *     await entry.leave() // all three are done
 *
 * The path and what is missing above it are created as containers.
 */
export class DoubleBarrier {
  /** The parent of the members' nodes. */
  readonly path: string
  /** How many members must enter. */
  readonly size: number
  readonly #zk: ZooKeeper
  /** The beginning of the nodes' names. */
  readonly #prefix: string
  readonly #acl: readonly ACL[] | undefined

  constructor(zk: ZooKeeper, path: string, options: DoubleBarrierOptions) {
    checkPlace(zk, path, 'members need a parent node of their own')
    checkNames('new DoubleBarrier', options, doubleBarrierOptions, '{ size: 3 }')
    const { size, name, acl } = options
    if (!Number.isInteger(size) || size < 1 || size > MOST_MEMBERS) {
      throw new RangeError(`size must be an integer from 1 to ${MOST_MEMBERS}, not ${String(size)}`)
    }
    if (name !== undefined && (typeof name !== 'string' || name.includes('/'))) {
      throw new TypeError('name must be a string without a slash')
    }
    checkOwnACL(acl)
    this.path = path
    this.size = size
    this.#zk = zk
    this.#prefix = name === undefined || name === '' ? '' : `${name}-`
    this.#acl = acl
  }

  /**
   * Enters, and resolves when `size` members are present. A member whose session ends while others wait does not count: they wait
   * for another. The call continues after a lost connection, and enters again in the next session. If the call fails, the node is
   * deleted.
   *
   * More than `size` may enter. A member that comes while others are inside is let in if that makes at least `size` members.
   */
  async enter(options: EnterOptions = {}): Promise<BarrierEntry> {
    checkWait('enter', options, enterOptions)
    const { signal, data = '' } = options
    checkData(data)
    throwIfAborted(signal)
    const former: string[] = []
    const entering = { size: this.size, data: copyOf(data), acl: this.#acl, former }
    let member: BarrierMember | undefined
    const missing = () => `${member?.present.length ?? 0} of ${this.size} have entered`
    const late = (after: number) => didNotOpen('MembersMissing', this.path, after, missing(), pathsOf(member))
    return await withLimitForOthers(this.#zk, options, late, (limit, mustWait) => {
      const enter = async (session: Session) => {
        throwIfAborted(session.detaching)
        if (member !== undefined && member.session !== session) former.push(member.path)
        member = new BarrierMember(this.#zk, this.path, this.#prefix)
        return await this.#enterAs(member, entering, limit, mustWait)
      }
      return inEachSession(this.#zk, enter, { signal })
    })
  }

  /** Without an entry the member's node is deleted. */
  async #enterAs(
    member: BarrierMember,
    options: EnteringOptions,
    limit: Limit,
    mustWait: () => void,
  ): Promise<BarrierEntry> {
    const { session } = member
    const remove = () => void member.remove()
    const unlisten = onAbort(session.detaching, remove)
    let entry: BarrierEntry | undefined
    try {
      await limit.during(new Entering(member, options).enter(mustWait))
      entry = new BarrierEntry(member)
      return entry
    } finally {
      unlisten()
      if (entry === undefined) remove()
    }
  }
}

/** A member that has entered. */
export class BarrierEntry {
  /** The path of the member's node. */
  readonly path: string
  /**
   * Aborts when the member is no longer inside, although it has not left: its session ended, its client was closed or detached,
   * or its node was deleted. Its reason is a `KeeperError`: `SessionExpired`, `Closed` or
   * `NoNode`. The others do not wait for it then: they may have left. (If a server ends the session, the event of the node may
   * come first. Then it is `NoNode`.)
   */
  readonly signal: AbortSignal
  readonly #member: BarrierMember
  readonly #leaving: Leaving
  readonly #unlisten: () => void

  /** @internal Created by `enter`. */
  constructor(member: BarrierMember) {
    this.#member = member
    this.#leaving = new Leaving(member)
    this.path = member.path
    this.signal = member.gone
    this.#unlisten = onAbort(member.session.detaching, (reason) => {
      member.lose(reason)
      void member.remove()
    })
  }

  /**
   * Leaves, and resolves when all members that were inside have left, or their sessions have ended. Members that enter
   * meanwhile belong to the next round: the call does not wait for them. It continues after a lost connection and after an
   * expired session.
   *
   * Rejects with the reason of `signal` if it has aborted before the call. After a timeout, or an abort, this member has left,
   * and no longer waits. A further call waits again. By default it waits forever. With a timeout of 0 it does not wait for other
   * members, but up to the session timeout for servers.
   */
  async leave(options: WaitOptions = {}): Promise<void> {
    checkWait('leave', options, leaveOptions)
    const member = this.#member
    const missing = () => `${member.present.length} have not left`
    const late = (after: number) => didNotOpen('MembersPresent', member.barrier, after, missing(), pathsOf(member))
    try {
      await withLimitForOthers(member.zk, options, late, (limit, mustWait) =>
        limit.asking((over) => this.#leaving.leave(over, mustWait)),
      )
    } finally {
      this.#unlisten()
      void member.remove()
    }
  }

  /** Like `leave` without a `timeout`: after an error it may wait for the other members forever. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave()
  }
}

/** The paths of the members that were present when this member last looked. */
function pathsOf(member: BarrierMember | undefined): string[] {
  return member?.present.map((name) => member.pathOf(name)) ?? []
}
