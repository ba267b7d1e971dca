// Keeps the node of a member for one session: creates it, writes the updates to it, and creates it again whenever it is gone.
import { type ACL, type CallOptions, KeeperError, type Session } from '@zk/client'
import { internalsOf, pause, throwIfAborted } from '@zk/client/internal'
import { ifMissing } from '../kernel/if-missing.ts'
import { awaitedLater, settled, unwatch } from '../kernel/promises.ts'
import { pinnedTo, retry, throwUnlessTransient } from '../kernel/retry.ts'
import type { MembersFolder } from './member.ts'
import { MemberNode, type NodeReading } from './member-node.ts'
import type { MembershipStates } from './membership-state.ts'
import type { NameWait } from './name-wait.ts'
import type { Update, Updates } from './updates.ts'

/**
 * A node that has existed for this long, in ms, is created again at once. A node that is deleted sooner is created again after a pause.
 */
const STEADY = 10_000
/** The pause before a node that is deleted again and again is created again, in ms. It doubles each time. */
const FIRST_PAUSE = 100
const LONGEST_PAUSE = 10_000

/** What a membership keeps from session to session. */
export interface KeptMember {
  readonly folder: MembersFolder
  readonly path: string
  readonly acl: readonly ACL[] | undefined
  readonly updates: Updates
  readonly states: MembershipStates
  readonly name: NameWait
  /** Aborts when the membership is over. */
  readonly over: AbortSignal
}

type OwnReading = NodeReading & { readonly has: 'ownNode' }

export class MemberKeeper {
  readonly session: Session
  readonly #member: KeptMember
  readonly #node: MemberNode
  #removing: Promise<void> | undefined
  #wake = () => {}

  constructor(member: KeptMember, session: Session) {
    this.session = session
    this.#member = member
    this.#node = new MemberNode(member.folder, member.path, session)
  }

  /** Rejects when the session or the membership is over, or with a permanent error. */
  async keep(): Promise<never> {
    const { folder, name, over, states, updates } = this.#member
    const { runtime } = folder.zk
    const release = await name.claim(this.session)
    try {
      for (let early = 0; ;) {
        const made = await this.#make()
        const since = runtime.now()
        states.present(this.session, made.stat)
        await this.#tend(made)
        this.#node.gone()
        updates.forget()
        states.absent('NodeDeleted')
        const wasSteady = runtime.now() - since >= STEADY
        const delay = wasSteady || early === 0 ? 0 : Math.min(FIRST_PAUSE * 2 ** (early - 1), LONGEST_PAUSE)
        if (delay > 0) await pause(runtime, delay, this.session.signal, over)
        early = wasSteady ? 0 : early + 1
      }
    } finally {
      // Another membership of this client may have the name when the node is gone.
      void settled(this.#removing).then(release)
    }
  }

  /** An update has come, or the membership is over. */
  wake(): void {
    this.#wake()
  }

  /** Deletes the node, in the background until that is confirmed or the session has ended. Idempotent. */
  remove(): Promise<void> {
    if (this.#removing === undefined) {
      this.#removing = awaitedLater(this.#node.delete())
      internalsOf(this.session).waitUntil(this.#removing)
    }
    return this.#removing
  }

  /** Creates the node, and waits for a name that another member has. */
  async #make(): Promise<OwnReading> {
    const { acl, folder, name, over, updates } = this.#member
    let making: Promise<void> | undefined
    for (;;) {
      throwIfAborted(over)
      const update = updates.wanted
      const made = await this.#node.create(updates.dataOf(update), acl)
      if (over.aborted) unwatch(made.watch)
      throwIfAborted(over)
      switch (made.has) {
        case 'ownNode':
          name.won()
          // A node that already existed may come from an earlier attempt, with earlier data.
          if (made.failure === undefined) updates.hold(update)
          else updates.forget()
          return made
        case 'otherNode':
          await name.freed(made.stat, made.watch, this.session)
          break
        case 'noNode':
          unwatch(made.watch)
          if (made.failure !== undefined) await this.#afterFailure(made.failure.error, update, making)
          making =
            KeeperError.is(made.failure?.error, 'NoNode') && !over.aborted
              ? makeFolder(folder, acl, this.session)
              : undefined
      }
    }
  }

  /** Returns if the create may be repeated. `making` is the folder that was created ahead of it. */
  async #afterFailure(error: unknown, update: Update, making: Promise<void> | undefined): Promise<void> {
    if (KeeperError.is(error, 'NodeExists')) return
    if (KeeperError.is(error, 'NoNode')) return await making
    if (!this.#isRefused(update, error)) await throwUnlessTransient(this.#member.folder.zk, error)
  }

  /** Writes what the node does not hold yet, until the node is gone. */
  async #tend({ watch: first }: OwnReading): Promise<void> {
    const { over, updates } = this.#member
    let watch = first
    let isFired = false
    const listen = () =>
      void watch.changed.then((event) => {
        isFired = true
        if (event.type === 'NodeDeleted') this.#node.gone()
        this.#wake()
      })
    listen()
    try {
      for (;;) {
        throwIfAborted(over)
        if (isFired) {
          throwIfAborted(this.session.signal)
          unwatch(watch)
          const reading = await this.#node.look()
          watch = reading.watch
          if (reading.has !== 'ownNode') return
          isFired = false
          listen()
        } else if (!updates.areWritten) {
          // The event of the watch may arrive during the write.
          const isSure = await this.#write(updates.wanted)
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

  /** False if a look must show whose node it is: by the time the write is repeated, another member may have the name. */
  async #write(update: Update): Promise<boolean> {
    const { folder, updates } = this.#member
    try {
      if (!(await this.#node.write(updates.dataOf(update)))) return false
      updates.hold(update)
      return true
    } catch (error) {
      if (!this.#isRefused(update, error)) {
        await throwUnlessTransient(folder.zk, error)
        return false
      }
      const mayBeWritten = KeeperError.is(error) && error.outcomeUnknown
      if (mayBeWritten) updates.forget()
      return !mayBeWritten
    }
  }

  #isRefused(update: Update, error: unknown): boolean {
    return !this.session.signal.aborted && this.#member.updates.refuse(update, error)
  }
}

/**
 * Creates the folder with the ACL of the member, ahead of the next create, in one segment. Servers delete empty containers,
 * so it may be missing again at once: then the next create fails with `NoNode`, too.
 */
function makeFolder({ zk, path }: MembersFolder, acl: readonly ACL[] | undefined, session: Session): Promise<void> {
  const making = (options: CallOptions) => retry(zk, () => zk.ensureContainer(path, { ...options, acl }))
  return awaitedLater(ifMissing(making, pinnedTo(session), undefined))
}
