// The node of a member in one session: creates, writes and deletes it. Another member may have the name at any time. So the
// owner of the node is compared with the session, and writes and the delete have the version of the node.
import { type ACL, KeeperError, type Session, type Stat, type Watched } from '@zk/client'
import { pause } from '@zk/client/internal'
import { afterCommit } from '../kernel/committed.ts'
import { pinnedTo, retry, throwUnlessTransient } from '../kernel/retry.ts'
import { SessionOptions } from '../kernel/session-options.ts'
import { unknownStat } from '../kernel/unreadable.ts'
import { reportMember } from './diagnostics.ts'
import type { MembersFolder } from './member.ts'
import { awaitedLater, settled, unawaited } from '../kernel/promises.ts'

/** The pause before a refused delete is repeated, in ms. */
const REFUSED_PAUSE = 1_000

/** What is at the path, and the watch that was set on it. */
export type NodeReading =
  | { readonly has: 'ownNode'; readonly stat: Stat; readonly watch: Watched }
  /** Another member has the name, or another program has created a node. */
  | { readonly has: 'otherNode'; readonly stat: Stat; readonly watch: Watched }
  | { readonly has: 'noNode'; readonly watch: Watched }

/** What is at the path right after a create, and the error of the create. */
export type Creation = NodeReading & { readonly failure: { readonly error: unknown } | undefined }

export class MemberNode {
  readonly session: Session
  readonly path: string
  readonly #folder: MembersFolder
  /** The version of our node; `'none'` if it does not exist, `'unknown'` while a request for it is not answered. */
  #version: number | 'none' | 'unknown' = 'none'
  #creating: Promise<Creation> | undefined
  #wasRefused = false

  constructor(folder: MembersFolder, path: string, session: Session) {
    this.#folder = folder
    this.path = path
    this.session = session
  }

  /**
   * Creates the node, and looks whose node is there, in one segment. The owner of the node shows whether a create without an
   * answer was executed, and whether another member has the name.
   */
  async create(data: Uint8Array, acl: readonly ACL[] | undefined): Promise<Creation> {
    this.#creating = this.#createAndLook(data, acl)
    try {
      return await this.#creating
    } finally {
      this.#creating = undefined
    }
  }

  async #createAndLook(data: Uint8Array, acl: readonly ACL[] | undefined): Promise<Creation> {
    const { zk } = this.#folder
    this.#version = 'unknown'
    const creating = zk.create(this.path, data, { mode: 'EPHEMERAL', acl, ...pinnedTo(this.session) }).then(
      ({ stat }) => {
        // The read may be refused, if the ACL does not allow this client to read.
        this.#version = stat.version
        return undefined
      },
      (error: unknown) => ({ error }),
    )
    const looking = awaitedLater(this.look())
    const failure = await creating
    const isKnown = failure === undefined || !(KeeperError.is(failure.error) && failure.error.outcomeUnknown)
    const reading = await looking.catch((error: unknown) => {
      const isTaken = KeeperError.is(error, 'NoAuth') && KeeperError.is(failure?.error, 'NodeExists')
      if (!isTaken) throw error
      return refusedReading()
    })
    if (reading.has !== 'ownNode' && isKnown) this.#version = 'none'
    return { ...reading, failure }
  }

  /** Looks at the path, and watches it. */
  async look(): Promise<NodeReading> {
    const { zk } = this.#folder
    const { bound } = SessionOptions.of(this.session)
    const { stat, ...watch } = await retry(zk, () => zk.existsAndWatch(this.path, bound))
    if (stat === undefined) return { has: 'noNode', watch }
    return { has: this.#isOwn(stat) ? 'ownNode' : 'otherNode', stat, watch }
  }

  /** Whether a node that was seen is ours. If so, its version is remembered. */
  #isOwn({ ephemeralOwner, version }: Stat): boolean {
    if (ephemeralOwner !== this.session.id) return false
    this.#version = version
    return true
  }

  /** An event has shown that the node is gone. */
  gone(): void {
    this.#version = 'none'
  }

  /**
   * Writes the data once. False if it is not known to be written, or the node belongs to another member: the next look shows
   * that. Any other error is thrown, even the refusal of a busy server: the client would repeat the write after the delete of a
   * member that leaves, when another member may have the name.
   */
  async write(data: Uint8Array): Promise<boolean> {
    if (typeof this.#version === 'string') return false
    try {
      const options = { version: this.#version, ...pinnedTo(this.session) }
      // If our node was deleted, and another member was faster, this node is not ours.
      return this.#isOwn(await this.#folder.zk.setData(this.path, data, options))
    } catch (error) {
      if (KeeperError.is(error, 'NoNode', 'BadVersion')) return false
      throw error
    }
  }

  /** Deletes the node. Resolves when it is gone or the session is over. Rejects with `NoAuth`, and continues in the background. */
  async delete(): Promise<void> {
    const { zk } = this.#folder
    const { signal } = this.session
    // Its create may be under way.
    if (this.#creating !== undefined) await settled(this.#creating)
    while (!signal.aborted) {
      const version = this.#version === 'unknown' ? await this.#find() : this.#version
      if (version === 'none') return
      try {
        return await zk.delete(this.path, { version, ...SessionOptions.of(this.session).bound })
      } catch (error) {
        if (KeeperError.is(error, 'NoNode') || signal.aborted) return
        // The node may be gone, and another member may have the name by now.
        const isUnsure = KeeperError.is(error) && (error.outcomeUnknown || error.code === 'BadVersion')
        if (isUnsure) this.#version = 'unknown'
        else if (KeeperError.is(error, 'NoAuth')) return await this.#refused(error)
        else await throwUnlessTransient(zk, error)
      }
    }
  }

  /** The delete is repeated until the node is gone or the session is over. */
  async #refused(cause: KeeperError): Promise<void> {
    // From 3.6 on, servers answer this even if the node is gone, since they check the rights first.
    this.#version = 'unknown'
    if ((await this.#find()) === 'none') return
    const { zk, path } = this.#folder
    const needs = `grant DELETE on ${path}; until then others see the member for as long as the session lives`
    const { op: name, number, server, sessionId } = cause
    const error = new KeeperError('NoAuth', { op: name, path: this.path, number, server, sessionId, needs, cause })
    if (!this.#wasRefused) reportMember(zk, { path, node: this.path, event: 'orphan', error })
    this.#wasRefused = true
    void pause(zk.runtime, REFUSED_PAUSE, this.session.signal).then(() => unawaited(this.delete()))
    throw error
  }

  /**
   * The version of our node after a request that was not answered; `'none'` if it is not ours. The look comes after a committed
   * request, which no deposed leader can answer.
   */
  async #find(): Promise<number | 'none'> {
    const { zk, path } = this.#folder
    const { bound } = SessionOptions.of(this.session)
    try {
      await afterCommit(zk, path, bound)
      const stat = await retry(zk, () => zk.exists(this.path, bound))
      return stat !== undefined && this.#isOwn(stat) ? stat.version : 'none'
    } catch (error) {
      if (this.session.signal.aborted) return 'none'
      throw error
    }
  }
}

/** Another member has the node, and a server refuses to show it. Then the server sets no watch either. */
const refusedReading = (): NodeReading => ({
  has: 'otherNode',
  stat: unknownStat,
  watch: { changed: new Promise(() => {}), unwatch: async () => {} },
})
