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

/** What a look at the path has shown, and the watch that it has set. */
export interface NodeReading {
  /** The node, also one of another program; undefined if there is none. */
  readonly stat: Stat | undefined
  readonly watch: Watched
}

/** Another member has the node, and a server refuses to show it. Then it sets no watch either. */
const refusedLook = (): NodeReading => ({
  stat: unknownStat,
  watch: { changed: new Promise(() => {}), unwatch: async () => {} },
})

/** A create, and the look right behind it. */
export interface Creation extends NodeReading {
  readonly failure: { readonly error: unknown } | undefined
}

export class MemberNode {
  readonly session: Session
  readonly path: string
  readonly #folder: MembersFolder
  /** Whether the node exists and is of this session; `unknown` while a request for it is not answered. */
  #existence: 'none' | 'unknown' | 'own' = 'none'
  #version = -1
  #creating: Promise<Creation> | undefined
  #wasRefused = false

  constructor(folder: MembersFolder, name: string, session: Session) {
    this.#folder = folder
    this.path = `${folder.path}/${name}`
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
    this.#existence = 'unknown'
    const creating = zk.create(this.path, data, { mode: 'EPHEMERAL', acl, ...pinnedTo(this.session) }).then(
      ({ stat }) => {
        // The read may be refused, if the ACL does not allow this client to read.
        this.#own(stat)
        return undefined
      },
      (error: unknown) => ({ error }),
    )
    const looking = awaitedLater(this.look())
    const failure = await creating
    const isKnown = failure === undefined || !(KeeperError.is(failure.error) && failure.error.outcomeUnknown)
    const look = await looking.catch((error: unknown) => {
      const isTaken = KeeperError.is(error, 'NoAuth') && KeeperError.is(failure?.error, 'NodeExists')
      if (!isTaken) throw error
      return refusedLook()
    })
    if (!this.owns(look) && isKnown) this.#existence = 'none'
    return { ...look, failure }
  }

  /** Looks at the path, and watches it. */
  async look(): Promise<NodeReading> {
    const { zk } = this.#folder
    const { stat, ...watch } = await retry(zk, () =>
      zk.existsAndWatch(this.path, SessionOptions.of(this.session).bound),
    )
    if (stat?.ephemeralOwner === this.session.id) this.#own(stat)
    return { stat, watch }
  }

  /** Whether the node that was seen is of this session. */
  owns({ stat }: Pick<NodeReading, 'stat'>): boolean {
    return stat?.ephemeralOwner === this.session.id
  }

  /** An event has shown that the node is gone. */
  gone(): void {
    this.#existence = 'none'
  }

  /**
   * Writes the data once. False if it is not known to be written, or the node is of another member: the next look shows that.
   * Any other error is thrown. A busy server's refusal is one: the client would repeat the write behind the delete of a member
   * that leaves, when another member may have the name.
   */
  async write(data: Uint8Array): Promise<boolean> {
    const { zk } = this.#folder
    try {
      const options = { version: this.#version, ...pinnedTo(this.session) }
      const stat = await zk.setData(this.path, data, options)
      // It was deleted, and another member was faster.
      if (!this.owns({ stat })) return false
      this.#own(stat)
      return true
    } catch (error) {
      if (KeeperError.is(error, 'NoNode', 'BadVersion')) return false
      throw error
    }
  }

  /** Deletes the node. Resolves when it is gone or the session over. Rejects with `NoAuth`, and goes on in the background. */
  async delete(): Promise<void> {
    const { zk } = this.#folder
    const { signal } = this.session
    // Its create may be under way.
    if (this.#creating !== undefined) await settled(this.#creating)
    while (this.#existence !== 'none' && !signal.aborted) {
      if (this.#existence === 'unknown' && !(await this.#isOurs())) return
      try {
        await zk.delete(this.path, { version: this.#version, ...SessionOptions.of(this.session).bound })
        return
      } catch (error) {
        if (KeeperError.is(error, 'NoNode') || signal.aborted) return
        // It may be gone, and another member may have the name by now.
        const isUnsure = KeeperError.is(error) && (error.outcomeUnknown || error.code === 'BadVersion')
        if (isUnsure) this.#existence = 'unknown'
        else if (KeeperError.is(error, 'NoAuth')) return await this.#refused(error)
        else await throwUnlessTransient(zk, error)
      }
    }
  }

  #own({ version }: Stat): void {
    this.#existence = 'own'
    this.#version = version
  }

  /** The delete is repeated until the node is gone or the session over. */
  async #refused(cause: KeeperError): Promise<void> {
    // From 3.6 on servers also answer this when the node is gone, since they check the rights first.
    this.#existence = 'unknown'
    if (!(await this.#isOurs())) return
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
   * Whether the node is ours after a request that was not answered. The look comes after a committed request, which no deposed
   * leader can answer.
   */
  async #isOurs(): Promise<boolean> {
    const { zk, path } = this.#folder
    const { bound } = SessionOptions.of(this.session)
    try {
      await afterCommit(zk, path, bound)
      const stat = await retry(zk, () => zk.exists(this.path, bound))
      if (stat?.ephemeralOwner !== this.session.id) return false
      this.#own(stat)
      return true
    } catch (error) {
      if (this.session.signal.aborted) return false
      throw error
    }
  }
}
