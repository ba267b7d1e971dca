// The members of a group, kept up to date by one-shot watches: one on the list, and one on the data of each member. A change
// costs only the reads that it makes necessary.
import type { CallOptions, Session, Watched, ZooKeeper } from '@zk/client'
import { callEach } from '../kernel/call-each.ts'
import { ifMissing } from '../kernel/if-missing.ts'
import { retry } from '../kernel/retry.ts'
import { inEachSession } from '../kernel/sessions.ts'
import type { Source } from '../kernel/watch-values.ts'
import { type Member, type MembersFolder, watchMember } from './member.ts'
import { Deferred, unwatch } from '../kernel/promises.ts'

/** Something that was read, until its watch fires. */
interface Read {
  /** undefined for a node that this client may not read: it is read again with each list. */
  readonly watch: Watched | undefined
  isOld: boolean
}

interface ReadList extends Read {
  /** Sorted. */
  readonly names: readonly string[]
  /** The last transaction that created or deleted a member; 0 if the path does not exist. */
  readonly pzxid: bigint
}

interface ReadMember extends Read {
  readonly member: Member
}

export class WatchedMembers implements Source<readonly Member[]> {
  readonly #folder: MembersFolder
  readonly #signal: AbortSignal
  readonly #read: (member: Member) => void
  /** The session in which all was read. undefined before the first read, and after the last. */
  #session: Session | undefined
  #list: ReadList | undefined
  readonly #members = new Map<string, ReadMember>()
  /** Whether something may have changed since the last pass began. */
  #mayHaveChanged = true
  #waking = new Deferred()
  /** Whether the connection was lost since the last pass began. */
  #wasLost = false
  #isStopped = false

  /** `read` is called with each member as soon as it is read, so its work is spread over the reads. */
  constructor(folder: MembersFolder, signal: AbortSignal, read: (member: Member) => void = () => {}) {
    this.#folder = folder
    this.#signal = signal
    this.#read = read
  }

  get zk(): ZooKeeper {
    return this.#folder.zk
  }

  /** The members, sorted by name. Repeats passes until one is whole. Continues in the next session. */
  async read(): Promise<readonly Member[]> {
    const signal = this.#signal
    const readWhole = async (session: Session) => {
      if (session !== this.#session) await this.#begin(session)
      let isWhole: boolean
      do {
        this.#mayHaveChanged = false
        this.#wasLost = false
        isWhole = await this.#pass({ session, signal })
      } while (!isWhole || this.#wasLost)
    }
    await inEachSession(this.zk, readWhole, { signal })
    return this.#list!.names.map((name) => this.#members.get(name)!.member)
  }

  async changed(): Promise<void> {
    this.#waking = new Deferred()
    if (!this.#mayHaveChanged) await this.#waking.promise
  }

  /** Servers answer the next list only after they have set the watches again, and sent the events of what has changed. */
  lost(): void {
    this.#wasLost = true
    if (this.#list !== undefined) this.#list.isOld = true
  }

  isSame(some: readonly Member[], others: readonly Member[]): boolean {
    return areSame(some, others)
  }

  /** Removes the watches, in the background: leaving does not wait for a silent server. */
  stop(): void {
    this.#isStopped = true
    this.#forget()
  }

  /**
   * Nothing is known in a new session. Its server may lag behind the server of the last session: after a reconnection the client
   * itself knows of no later transaction. A sync resolves that.
   */
  async #begin(session: Session): Promise<void> {
    const { zk, path } = this.#folder
    const isFirst = this.#session === undefined
    this.#forget()
    const options = { session, signal: this.#signal }
    if (!isFirst) await retry(zk, () => zk.sync(path, options), this.#signal)
    this.#session = session
  }

  /**
   * Reads the list and the members that are not known yet. False if a member has left, or was created again, since the list: then
   * the list is read again, so that all members are always from one list.
   */
  async #pass(options: CallOptions & { readonly session: Session }): Promise<boolean> {
    if (this.#list?.isOld !== false) await this.#readList(options)
    const { names, pzxid } = this.#list!
    const old = names.filter((name) => this.#members.get(name)?.isOld !== false)
    const read = await callEach(old, (name) => this.#readMember(name, options))
    if (read.every((member) => member !== undefined && member.czxid <= pzxid)) return true
    this.#list!.isOld = true
    return false
  }

  async #readList(options: CallOptions & { readonly session: Session }): Promise<void> {
    const { zk, path } = this.#folder
    const before = this.#list
    const listing = (asking: CallOptions) => retry(zk, () => zk.getChildrenAndWatch(path, asking), options.signal)
    for (;;) {
      const read = await ifMissing(listing, options, undefined)
      if (read !== undefined) {
        this.#list = this.#watched(options.session, {
          names: read.children.sort(),
          pzxid: read.stat.pzxid,
          watch: read,
          isOld: false,
        })
        break
      }
      const { stat, ...watch } = await retry(zk, () => zk.existsAndWatch(path, options), options.signal)
      if (stat === undefined) {
        this.#list = this.#watched(options.session, { names: [], pzxid: 0n, watch, isOld: false })
        break
      }
      unwatch(watch)
    }
    void unwatchRead(before)
    const names = new Set(this.#list.names)
    for (const [name, read] of this.#members) {
      if (read.watch === undefined) read.isOld = true
      if (names.has(name)) continue
      this.#members.delete(name)
      void unwatchRead(read)
    }
  }

  async #readMember(name: string, options: CallOptions & { readonly session: Session }): Promise<Member | undefined> {
    const read = await watchMember(this.#folder, name, options)
    if (read === undefined) return undefined
    this.#members.set(name, this.#watched(options.session, { ...read, isOld: false }))
    this.#read(read.member)
    return read.member
  }

  /** Notices when the watch fires. A read that comes too late is not kept, so its watch is removed. */
  #watched<R extends Read>(session: Session, read: R): R {
    if (this.#isStopped || session !== this.#session) {
      void unwatchRead(read)
      throw new Error('the read came too late')
    }
    void read.watch?.changed.then(() => {
      read.isOld = true
      this.#mayHaveChanged = true
      this.#waking.resolve()
    })
    return read
  }

  #forget(): void {
    void callEach([...this.#members.values(), this.#list], unwatchRead)
    this.#members.clear()
    this.#list = undefined
  }
}

/** Resolves when the watch is removed, or no longer exists. */
async function unwatchRead(read: Read | undefined): Promise<void> {
  await read?.watch?.unwatch().catch(() => {})
}

function areSame(some: readonly Member[], others: readonly Member[]): boolean {
  if (some.length !== others.length) return false
  return some.every(({ name, czxid, mzxid, since, error }, index) => {
    const other = others[index]!
    // Zxids repeat after an ensemble is set up again, or restored from a backup.
    const isSame = czxid === other.czxid && mzxid === other.mzxid && since === other.since
    return name === other.name && isSame && error?.code === other.error?.code
  })
}
