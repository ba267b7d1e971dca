// One membership: an ephemeral node that is created again whenever it is gone, until the member leaves.
import type { ACL, Session, WaitOptions, WatchIterator } from '@zk/client'
import { onAbort, throwIfAborted } from '@zk/client/internal'
import { serverTimeout, withLimit } from '../kernel/limit.ts'
import { unawaited } from '../kernel/promises.ts'
import { inEachSession } from '../kernel/sessions.ts'
import { watchValues } from '../kernel/watch-values.ts'
import { checkCall, checkContent } from './checks.ts'
import { LostError } from '../errors/lost-error.ts'
import { WaitTimeoutError } from '../errors/wait-timeout-error.ts'
import { lostMembership, type MembershipLossReason } from './errors.ts'
import type { MembersFolder } from './member.ts'
import { type KeptMember, MemberKeeper } from './member-keeper.ts'
import { type MembershipState, MembershipStates } from './membership-state.ts'
import { NameWait } from './name-wait.ts'
import { Update, Updates } from './updates.ts'

export interface MembershipOptions {
  readonly name: string
  readonly data: Uint8Array | string
  readonly acl: readonly ACL[] | undefined
  /** How long to wait for a name that another member has, in ms. */
  readonly timeout: number
}

/**
 * A membership of a group, from `join` until `release`: its node is created again after every expired session, and when another
 * client has deleted it.
 */
export class Membership implements AsyncDisposable {
  /** The member's name in the group. */
  readonly name: string
  /** The path of the member's node. */
  readonly path: string
  readonly #member: KeptMember
  /** Keeps the node in the current session. */
  #keeper: MemberKeeper
  readonly #abort = new AbortController()

  /** @internal */
  constructor(folder: MembersFolder, { name, data, acl, timeout }: MembershipOptions) {
    const { zk } = folder
    const path = `${folder.path}/${name}`
    const over = this.#abort.signal
    this.name = name
    this.path = path
    const updates = new Updates(new Update(data))
    const states = new MembershipStates(zk, { path: folder.path, node: path })
    this.#member = { folder, path, acl, updates, states, name: new NameWait(zk, path, timeout, over), over }
    this.#keeper = new MemberKeeper(this.#member, zk.session)
    void this.#keep()
  }

  /** The current state. */
  get state(): MembershipState {
    return this.#member.states.current
  }

  /** Aborts when the membership ends. Its reason is a `LostError`. An absence does not abort it. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** @internal What the node holds, or should hold: the data of the last update that was not refused. */
  get data(): Uint8Array {
    return this.#member.updates.data
  }

  /**
   * The current state, and then each new one. The last one is `ended`. When the signal aborts, it ends without an error. A
   * slow loop misses states in between, but gets the last one.
   */
  watchState(options: Pick<WaitOptions, 'signal'> = {}): WatchIterator<MembershipState> {
    return watchValues(options, (signal) => {
      checkCall('watchState', options)
      return this.#member.states.watch(signal)
    })
  }

  /**
   * Changes the data. Resolves when the member's node holds it, or later data: of several updates the last wins. After an expired
   * session, and after a deletion, the next node is created with the last data.
   *
   * When the servers refuse the data, or it is too large, it rejects with that error, and the member keeps what it had.
   * Without an answer within `timeout`, the session timeout by default, it rejects with `RequestTimeout`, and with the reason of the
   * signal when that aborts. In both cases the data is written later. It rejects with a
   * `LostError` when the membership has ended.
   */
  async update(data: Uint8Array | string, options: WaitOptions = {}): Promise<void> {
    checkCall('update', options)
    checkContent(data)
    await this.#update(new Update(data), options)
  }

  /**
   * @internal The same, but computes the new data from the previous data of the node. Several changes are written together. If that is
   * refused, they are written one by one, so that each is accepted or refused alone.
   */
  async change(change: (before: Uint8Array) => Uint8Array, options: WaitOptions): Promise<void> {
    checkCall('update', options)
    await this.#update(new Update('', change), options)
  }

  async #update(update: Update, options: WaitOptions): Promise<void> {
    const { folder, states, updates } = this.#member
    const { signal, timeout = this.#keeper.session.timeout } = options
    throwIfAborted(signal)
    if (states.current.name === 'ended') throw states.current.error
    updates.add(update)
    this.#keeper.wake()
    const limits = { signals: [signal], timeout: serverTimeout('update', this.path, timeout) }
    await withLimit(folder.zk.runtime, limits, (limit) => limit.during(update.written))
  }

  /**
   * Ends the membership as soon as it is called. Resolves when its node is gone or the session is over. If that takes longer
   * than the session timeout, it rejects with `RequestTimeout`, and continues in the background. Idempotent.
   *
   * A client that has given up its session without an answer from any server considers it over. Then the ensemble may show the
   * node until the session expires there, a session timeout later at most.
   */
  async release(): Promise<void> {
    this.#end('Released')
    const timeout = serverTimeout('release', this.path, this.#keeper.session.timeout)
    await withLimit(this.#member.folder.zk.runtime, { timeout }, (limit) => limit.during(this.#keeper.remove()))
  }

  /** For logs. */
  toJSON(): object {
    const { name, path, state } = this
    return { name, path, state }
  }

  /** Like `release`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }

  /** @internal Resolves when the member is present for the first time. If it rejects, nothing is left behind. */
  async entered({ timeout, signal }: { timeout: number; signal: AbortSignal | undefined }): Promise<void> {
    const { folder, name, states } = this.#member
    // A timeout of 0 leaves time for the servers to answer, but none to wait for a taken name.
    const after = timeout || this.#keeper.session.timeout
    const limits = { signals: [signal], timeout: { after, error: () => name.late() } }
    try {
      await withLimit(folder.zk.runtime, limits, (limit) => limit.during(states.entered))
    } catch (error) {
      this.#end('Released')
      throw LostError.is(error) ? (error.cause ?? error) : error
    }
  }

  /** Continues from session to session, until the membership ends. */
  async #keep(): Promise<void> {
    const { folder, name, states, updates } = this.#member
    const expired = (session: Session) => {
      name.expired(session)
      updates.forget()
      states.absent('SessionExpired')
    }
    try {
      await inEachSession(folder.zk, (session) => this.#keepIn(session), { expired })
    } catch (error) {
      this.#end(reasonOf(error, this.#keeper.session), error)
    }
  }

  async #keepIn(session: Session): Promise<never> {
    throwIfAborted(this.signal)
    if (this.#keeper.session !== session) this.#keeper = new MemberKeeper(this.#member, session)
    const unlisten = onAbort(session.detaching, (reason) => this.#end('Closed', reason))
    try {
      return await this.#keeper.keep()
    } finally {
      unlisten()
    }
  }

  #end(reason: MembershipLossReason, cause?: unknown): void {
    const { states, updates } = this.#member
    if (states.current.name === 'ended') return
    const error = lostMembership(reason, this.path, cause)
    states.end(error)
    this.#abort.abort(error)
    updates.end(error)
    unawaited(this.#keeper.remove())
    this.#keeper.wake()
  }
}

function reasonOf(error: unknown, { signal, detaching }: Session): MembershipLossReason {
  if (WaitTimeoutError.is(error)) return 'NameTaken'
  return signal.aborted || detaching.aborted ? 'Closed' : 'Refused'
}
