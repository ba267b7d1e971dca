// One membership: an ephemeral node that is made again whenever it is gone, until the member leaves.
import { type ACL, type CallOptions, KeeperError, type Session, type Stat, type ZooKeeper } from '@zk/client'
import { inJson, onAbort, pause, throwIfAborted } from '@zk/client/internal'
import { ifMissing } from '../kernel/if-missing.ts'
import { pinnedTo, retry, throwUnlessTransient } from '../kernel/retry.ts'
import { inEachSession } from '../kernel/sessions.ts'
import { eventIfSent } from '../kernel/unreadable.ts'
import { serverTimeout, undefinedIfAborted, withLimit } from '../kernel/limit.ts'
import { checkCall, checkContent } from './checks.ts'
import { Claims } from './claims.ts'
import { reportMember } from './diagnostics.ts'
import type { MembersFolder } from './member.ts'
import { type NodeReading, MemberNode } from './member-node.ts'
import { MembershipLostError, type MembershipLossReason, type NameOwner, NameTakenError } from './errors.ts'
import { awaitedLater, Deferred, unawaited, unwatch } from '../kernel/promises.ts'

/** A node that stood for so long, in ms, is made again at once. One that is deleted sooner is made again after a pause. */
const STEADY = 10_000
/** The pause before a node that is deleted again and again is made again, in ms. It doubles each time. */
const FIRST_PAUSE = 100
const LONGEST_PAUSE = 10_000

/** How a membership stands. Times are in ms since the epoch, by the clock of this machine. In JSON bigints are text, `0x…`. */
export type MembershipState =
  /**
   * The node is there, as far as this client knows. It learns of a deletion by an event, and of an expired session when it
   * is connected again. So others may already see the member absent.
   */
  | { readonly name: 'present'; readonly since: number; readonly sessionId: bigint; readonly czxid: bigint }
  /** The node is gone, and is made again. `cause` says what happened to it. */
  | { readonly name: 'absent'; readonly since: number; readonly cause: 'SessionExpired' | 'NodeDeleted' }
  /** The membership is over. */
  | { readonly name: 'ended'; readonly since: number; readonly error: MembershipLostError }

/** The limits of an update. */
export interface UpdateOptions {
  /** The longest wait in ms, 0 or more. Then it rejects with `RequestTimeout`, and the data is written later. @default the session timeout */
  timeout?: number | undefined
  /** Ends the wait: it rejects with its reason, and the data is written later. */
  signal?: AbortSignal | undefined
}

export interface MembershipOptions {
  readonly name: string
  readonly data: Uint8Array | string
  readonly acl: readonly ACL[] | undefined
  /** How long to wait for a name that another member has, in ms. */
  readonly timeout: number
}

/** What the node shall hold. Each update makes one. */
class Content {
  /** For a change: the data as last computed. */
  data: Uint8Array
  /** Computes the data from the previous data of the node; undefined if the data does not depend on it. */
  readonly change: ((before: Uint8Array) => Uint8Array) | undefined
  readonly #written = new Deferred()

  constructor(data: Uint8Array | string, change?: (before: Uint8Array) => Uint8Array) {
    this.data = typeof data === 'string' ? new TextEncoder().encode(data) : new Uint8Array(data)
    this.change = change
    unawaited(this.#written.promise)
  }

  /** Settles when the node holds it, or never will. */
  get written(): Promise<void> {
    return this.#written.promise
  }

  settle(error?: unknown): void {
    if (error === undefined) this.#written.resolve()
    else this.#written.reject(error)
  }
}

/** A look that has shown our node. Its watch notices the end of the node. */
interface OwnReading extends NodeReading {
  readonly stat: Stat
}

/** The membership has ended: its keeper stops. */
class Ended extends Error {}

/**
 * A membership of a group, from `join` until `leave`: its node is made again after every expired session, and when another
 * client has deleted it.
 */
export class Membership implements AsyncDisposable {
  /** The member's name in the group. */
  readonly name: string
  /** The path of the member's node. */
  readonly path: string
  readonly #folder: MembersFolder
  readonly #acl: readonly ACL[] | undefined
  readonly #timeout: number
  readonly #abort = new AbortController()
  #state: MembershipState
  /** Notified of every new state. */
  readonly #observers = new Set<() => void>()
  /** The contents that are not settled yet, oldest first. The last one is what the node shall hold. */
  #contents: Content[]
  /** Whether contents are written one by one, because several together were refused. */
  #isApart = false
  /** The last one that a node has held. */
  #accepted: Content | undefined
  /** The one that the node holds; undefined if that is not known. */
  #held: Content | undefined
  /** That of the present session. */
  #node: MemberNode
  /** The ids of the sessions since it was last present. */
  readonly #formerSessions = new Set<bigint>()
  #leaving: Promise<void> | undefined
  #wake = () => {}
  #owner: NameOwner | undefined
  readonly #entered = new Deferred()

  /** @internal */
  constructor(folder: MembersFolder, { name, data, acl, timeout }: MembershipOptions) {
    this.name = name
    this.#node = new MemberNode(folder, name, folder.zk.session)
    this.path = this.#node.path
    this.#folder = folder
    this.#acl = acl
    this.#timeout = timeout
    this.#state = { name: 'absent', since: folder.zk.runtime.wallNow(), cause: 'NodeDeleted' }
    this.#contents = [new Content(data)]
    void this.#keep()
  }

  /** How it stands now. */
  get state(): MembershipState {
    return this.#state
  }

  /** Aborts when the membership ends. Its reason is a `MembershipLostError`. An absence does not abort it. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /**
   * The present state, and each new one, until the membership has ended: that is the last. A loop that is slow misses states
   * in between, and gets the last.
   */
  async *states(options: Pick<CallOptions, 'signal'> = {}): AsyncGenerator<MembershipState, void, undefined> {
    checkCall('states', options)
    const { signal } = options
    let last: MembershipState | undefined
    while (!signal?.aborted) {
      if (this.#state === last) await this.#changes(signal).catch(undefinedIfAborted(signal))
      if (this.#state === last) continue
      last = this.#state
      yield last
      if (last.name === 'ended') return
    }
  }

  /**
   * Changes the data. Resolves when the member's node holds it, or later data: of several updates the last wins. After an
   * expired session, and after a deletion, the next node is made with the last data.
   *
   * When the servers refuse the data, or it is too large, it rejects with that error, and the member keeps what it had.
   * Without an answer in time it rejects with `RequestTimeout`, and the data is written later. It rejects with a
   * `MembershipLostError` when the membership has ended.
   */
  async update(data: Uint8Array | string, options: UpdateOptions = {}): Promise<void> {
    checkCall('update', options)
    checkContent(data)
    await this.#update(new Content(data), options)
  }

  /**
   * @internal The same, but computes the new data from the previous data of the node. Several changes are written together. If that is
   * refused, they are written one by one, so that each is accepted or refused alone.
   */
  async change(change: (before: Uint8Array) => Uint8Array, options: UpdateOptions): Promise<void> {
    checkCall('update', options)
    await this.#update(new Content('', change), options)
  }

  async #update(content: Content, options: UpdateOptions): Promise<void> {
    const { signal, timeout = this.#node.session.timeout } = options
    throwIfAborted(signal)
    if (this.#state.name === 'ended') throw this.#state.error
    this.#contents.push(content)
    this.#wake()
    const limits = { signals: [signal], timeout: serverTimeout('update', this.path, timeout) }
    await withLimit(this.#zk.runtime, limits, (limit) => limit.during(content.written))
  }

  /**
   * Ends the membership at the call. Resolves when its node is gone or the session over. When that takes longer than the
   * session timeout it rejects with `RequestTimeout`, and goes on in the background. Idempotent.
   *
   * A client that has given its session up without an answer of any server counts it as over. Then the ensemble may show the
   * node until the session expires there, a session timeout later at most.
   */
  async leave(): Promise<void> {
    this.#end('Left')
    const timeout = serverTimeout('leave', this.path, this.#node.session.timeout)
    await withLimit(this.#zk.runtime, { timeout }, (limit) => limit.during(this.#remove()))
  }

  /** For logs. */
  toJSON(): object {
    const { name, path, state } = this
    return { name, path, state }
  }

  /** As `leave`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.leave()
  }

  /** @internal Resolves when it is a member for the first time. When it rejects, nothing is left behind. */
  async entered(signal: AbortSignal | undefined): Promise<void> {
    const limits = {
      signals: [signal],
      // 0 leaves time for servers, but none for a taken name.
      timeout: { after: this.#timeout || this.#node.session.timeout, error: () => this.#late() },
    }
    let unlisten = () => {}
    const ended = new Promise<never>((_, reject) => {
      unlisten = onAbort(this.signal, reject)
    })
    try {
      const entered = Promise.race([this.#entered.promise, ended])
      await withLimit(this.#zk.runtime, limits, (limit) => limit.during(entered))
    } catch (error) {
      this.#end('Left')
      throw MembershipLostError.is(error) ? (error.cause ?? error) : error
    } finally {
      unlisten()
    }
  }

  // --- the node ---------------------------------------------------------------------------------------------------

  get #zk(): ZooKeeper {
    return this.#folder.zk
  }

  /** @internal What the node holds, or shall hold: the data of the last update that was not refused. */
  get data(): Uint8Array {
    return this.#dataOf(this.#contents.at(-1) ?? this.#accepted!)
  }

  get #wanted(): Content {
    return (this.#isApart ? this.#contents[0] : this.#contents.at(-1)) ?? this.#accepted!
  }

  #dataOf(content: Content): Uint8Array {
    let before = this.#accepted
    for (const each of this.#contents.slice(0, this.#contents.indexOf(content) + 1)) {
      if (each.change !== undefined) each.data = each.change(before!.data)
      before = each
    }
    return content.data
  }

  /** Keeps the node, from session to session, until the membership ends. */
  async #keep(): Promise<void> {
    const expired = (session: Session) => {
      // A session that no server has given has no node.
      if (session.id !== 0n) this.#formerSessions.add(session.id)
      this.#absent('SessionExpired')
    }
    try {
      await inEachSession(this.#zk, (session) => this.#keepIn(session), { expired })
    } catch (error) {
      this.#end(reasonOf(error, this.#node.session), error)
    }
  }

  async #keepIn(session: Session): Promise<never> {
    this.#throwIfOver()
    const node = this.#node.session === session ? this.#node : new MemberNode(this.#folder, this.name, session)
    this.#node = node
    throwIfAborted(session.detaching)
    const release = await this.#claim(session)
    const unlisten = onAbort(session.detaching, () => this.#end('Closed', session.detaching.reason))
    try {
      let early = 0
      for (;;) {
        const made = await this.#make(node)
        const since = this.#zk.runtime.now()
        this.#present(session, made.stat)
        await this.#tend(node, made)
        node.gone()
        this.#absent('NodeDeleted')
        const wasSteady = this.#zk.runtime.now() - since >= STEADY
        if (!wasSteady && early > 0) await this.#rest(Math.min(FIRST_PAUSE * 2 ** (early - 1), LONGEST_PAUSE), session)
        early = wasSteady ? 0 : early + 1
      }
    } finally {
      unlisten()
      // Another membership of this client may have the name when the node is gone.
      void (this.#leaving ?? Promise.resolve()).then(release, release)
    }
  }

  /** Waits for other memberships of this client under the same name. */
  async #claim(session: Session): Promise<() => void> {
    for (;;) {
      const claim = Claims.of(session).take(this.#zk, this.path)
      if (typeof claim === 'function') return claim
      this.#owner = { sessionId: session.id, since: this.#zk.runtime.wallNow(), isOwn: true }
      await this.#unlessOver(claim, session, this.#deadline())
      this.#owner = undefined
    }
  }

  /** Makes the node, and waits for a name that another member has. */
  async #make(node: MemberNode): Promise<OwnReading> {
    const { session } = node
    let deadline: number | undefined
    for (;;) {
      this.#throwIfOver()
      const content = this.#wanted
      const { stat, watch, failure } = await node.create(this.#dataOf(content), this.#acl)
      if (this.signal.aborted) {
        unwatch(watch)
        throw new Ended()
      }
      if (stat?.ephemeralOwner === session.id) {
        // A node that was there may be of an earlier attempt, with earlier data.
        this.#held = failure === undefined ? content : undefined
        this.#owner = undefined
        if (this.#held !== undefined) this.#accept(content)
        return { stat, watch }
      }
      if (stat === undefined) {
        unwatch(watch)
        if (failure !== undefined) await this.#afterFailure(session, failure.error, content)
        continue
      }
      // The node of our own former session goes with it, and no other client uses that session.
      const isOwn = this.#formerSessions.has(stat.ephemeralOwner)
      if (!isOwn) deadline ??= this.#deadline()
      this.#owner = { sessionId: stat.ephemeralOwner, since: stat.ctime, isOwn: false }
      try {
        const mayBeFree = eventIfSent(this.#zk.runtime, watch.changed, session.signal, this.signal)
        await this.#unlessOver(mayBeFree, session, isOwn ? undefined : deadline)
      } finally {
        unwatch(watch)
      }
    }
  }

  /** Returns if the create may be repeated. */
  async #afterFailure(session: Session, error: unknown, content: Content): Promise<void> {
    const { zk, path } = this.#folder
    if (KeeperError.is(error, 'NodeExists')) return
    if (KeeperError.is(error, 'NoNode')) {
      // Meanwhile servers may delete one of the empty containers above. Then everything is repeated.
      const making = (options: CallOptions) => retry(zk, () => zk.ensureContainer(path, options))
      return await ifMissing(making, pinnedTo(session), undefined)
    }
    if (this.#mayBeRefused(error, session, content)) return this.#refuse(content, error)
    await throwUnlessTransient(zk, error)
  }

  /** Writes what the node does not hold yet, until it is gone. */
  async #tend(node: MemberNode, { watch: first }: OwnReading): Promise<void> {
    let watch = first
    let isFired = false
    const listen = () =>
      void watch.changed.then((event) => {
        isFired = true
        if (event.type === 'NodeDeleted') node.gone()
        this.#wake()
      })
    listen()
    try {
      for (;;) {
        this.#throwIfOver()
        if (isFired) {
          throwIfAborted(node.session.signal)
          unwatch(watch)
          const look = await node.look()
          watch = look.watch
          if (!node.owns(look)) return
          isFired = false
          listen()
        } else if (this.#held !== this.#wanted) {
          // Its event may have come meanwhile.
          const isSure = await this.#write(node, this.#wanted)
          if (!isSure) isFired = true
        } else {
          await new Promise<void>((resolve) => {
            this.#wake = resolve
          })
        }
      }
    } finally {
      unwatch(watch)
    }
  }

  /** False if a look must show whose node it is: another member may have the name when the write would be repeated. */
  async #write(node: MemberNode, content: Content): Promise<boolean> {
    try {
      if (!(await node.write(this.#dataOf(content)))) return false
      this.#held = content
      this.#accept(content)
    } catch (error) {
      if (!this.#mayBeRefused(error, node.session, content)) {
        await throwUnlessTransient(this.#zk, error)
        return false
      }
      this.#refuse(content, error)
      // It may have been written after all.
      if (KeeperError.is(error) && error.outcomeUnknown) {
        this.#held = undefined
        return false
      }
    }
    return true
  }

  /** The node held it: it settles, and so do those before it. */
  #accept(content: Content): void {
    this.#accepted = content
    const index = this.#contents.indexOf(content)
    for (const each of this.#contents.splice(0, index + 1)) each.settle()
    this.#isApart &&= this.#contents.length > 0
  }

  /** Whether the error is about an update: then the member goes on with what it had. */
  #mayBeRefused(error: unknown, { signal }: Session, content: Content): boolean {
    const isLasting = !KeeperError.is(error) || KeeperError.is(error, ...refusals)
    return isLasting && !signal.aborted && this.#accepted !== undefined && content !== this.#accepted
  }

  #refuse(content: Content, error: unknown): void {
    if (content.change !== undefined && content !== this.#contents[0]) {
      // It includes the changes of others.
      this.#isApart = true
      return
    }
    this.#contents = this.#contents.filter((each) => each !== content)
    this.#isApart &&= this.#contents.length > 0
    content.settle(error)
  }

  // --- waiting ----------------------------------------------------------------------------------------------------

  #throwIfOver(): void {
    if (this.signal.aborted) throw new Ended()
  }

  /** The deadline of the wait for a taken name. The first wait is limited by `entered`, unless the timeout is 0. */
  #deadline(): number {
    return this.#accepted === undefined && this.#timeout > 0 ? Infinity : this.#zk.runtime.now() + this.#timeout
  }

  /** Settles as the promise does. It rejects when the membership or the session is over, or, at the deadline, with a `NameTakenError`. */
  async #unlessOver<T>(promise: Promise<T>, session: Session, deadline = Infinity): Promise<T> {
    const { runtime } = this.#zk
    const timeout = { after: deadline - runtime.now(), error: () => this.#late() }
    const limits = { signals: [this.signal, session.signal], timeout }
    return await withLimit(runtime, limits, (limit) => limit.during(promise))
  }

  #late(): Error {
    return this.#owner === undefined
      ? new KeeperError('RequestTimeout', { op: 'join', path: this.path })
      : new NameTakenError(this.path, this.#timeout, this.#owner)
  }

  async #rest(delay: number, session: Session): Promise<void> {
    await pause(this.#zk.runtime, delay, session.signal, this.signal)
  }

  // --- states -----------------------------------------------------------------------------------------------------

  #present(session: Session, { czxid }: Stat): void {
    this.#formerSessions.clear()
    this.#become(inJson({ name: 'present', since: this.#zk.runtime.wallNow(), sessionId: session.id, czxid }))
    this.#entered.resolve()
    const { path } = this.#folder
    reportMember(this.#zk, { path, node: this.path, event: 'present', sessionId: session.id })
  }

  #absent(cause: 'SessionExpired' | 'NodeDeleted'): void {
    this.#held = undefined
    if (this.#state.name !== 'present') return
    this.#become({ name: 'absent', since: this.#zk.runtime.wallNow(), cause })
    const { path } = this.#folder
    reportMember(this.#zk, { path, node: this.path, event: 'absent', error: cause })
  }

  #end(reason: MembershipLossReason, cause?: unknown): void {
    if (this.#state.name === 'ended') return
    const error = new MembershipLostError(reason, this.path, cause === undefined ? undefined : { cause })
    const wasMember = this.#accepted !== undefined
    this.#accepted ??= this.#contents[0]
    this.#become({ name: 'ended', since: this.#zk.runtime.wallNow(), error })
    this.#abort.abort(error)
    for (const content of this.#contents.splice(0)) content.settle(error)
    unawaited(this.#remove())
    this.#wake()
    const event = reason === 'Left' ? 'left' : 'lost'
    if (!wasMember) return
    const { path } = this.#folder
    reportMember(this.#zk, { path, node: this.path, event, ...(event === 'lost' && { error }) })
  }

  #become(state: MembershipState): void {
    this.#state = state
    for (const notify of this.#observers) notify()
  }

  async #changes(signal: AbortSignal | undefined): Promise<void> {
    const changing = new Deferred()
    this.#observers.add(changing.resolve)
    try {
      await withLimit(this.#zk.runtime, { signals: [signal] }, (limit) => limit.during(changing.promise))
    } finally {
      this.#observers.delete(changing.resolve)
    }
  }

  // --- leaving ----------------------------------------------------------------------------------------------------

  /** Deletes the node, in the background until that is confirmed or the session has ended. */
  #remove(): Promise<void> {
    if (this.#leaving === undefined) {
      const node = this.#node
      this.#leaving = awaitedLater(node.delete())
      node.session.waitUntil(this.#leaving)
    }
    return this.#leaving
  }
}

/** What servers answer, or the client, to data or rights that will not do. */
const refusals = [
  'NoAuth',
  'QuotaExceeded',
  'InvalidACL',
  'BadArguments',
  'MarshallingError',
  'RequestTooLarge',
] as const

function reasonOf(error: unknown, { signal, detaching }: Session): MembershipLossReason {
  if (NameTakenError.is(error)) return 'NameTaken'
  return signal.aborted || detaching.aborted ? 'Closed' : 'Refused'
}
