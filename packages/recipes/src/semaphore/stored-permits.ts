// The number of permits, stored in the semaphore's node in the format of Curator's SharedCount: four bytes, most significant
// first. The node stays when no program holds or waits: it is a setting, and `resize` must last.
import {
  type ACL,
  type CallOptions,
  type EnsureOptions,
  KeeperError,
  type NodeData,
  type Session,
  type ZooKeeper,
} from '@zk/client'
import { permitsDiffer } from './permits-differ.ts'
import { afterCommit } from '../kernel/committed.ts'
import { parentsWith } from '../kernel/create-with-parents.ts'
import { ifMissing } from '../kernel/if-missing.ts'
import { retry, throwUnlessTransient } from '../kernel/retry.ts'
import { SessionOptions } from '../kernel/session-options.ts'
import { awaitedLater } from '../kernel/promises.ts'

/** A number of permits, and the version of the node that stores it. */
export interface Permits {
  readonly permits: number
  readonly version: number
}

/** What the node stores: `permits` is undefined if it has no data, like a node that was created only as the parent of another. */
interface Stored {
  readonly permits: number | undefined
  readonly version: number
}

/** The length of an int. */
const LENGTH = 4

export class StoredPermits {
  readonly path: string
  readonly #zk: ZooKeeper
  /** The number that this program expects; undefined if it follows whatever is stored. */
  readonly #expected: number | undefined
  readonly #acl: readonly ACL[] | undefined
  /** Whether this object follows the stored number: it was the expected one once, or `resize` has stored it. */
  #followsStored = false

  constructor(zk: ZooKeeper, path: string, expected: number | undefined, acl: readonly ACL[] | undefined) {
    this.#zk = zk
    this.path = path
    this.#expected = expected
    this.#acl = acl
  }

  /** Whether any stored number is right, because the expected one was stored once, or `resize` was called. */
  get followsStored(): boolean {
    return this.#followsStored
  }

  /** What is stored; undefined if nothing is. */
  async read(options: CallOptions): Promise<Permits | undefined> {
    return asPermits(await this.#read(options))
  }

  /** Like `read`, after a sync. Both are sent in one segment. */
  async readAfterSync(options: CallOptions): Promise<Permits | undefined> {
    return asPermits(await this.#readAfterSync(options))
  }

  /**
   * Whether these permits, which a recent read has shown, are the expected ones, and at least `count`. If so, this object follows the
   * stored number from now on. If not, a read after a committed request must show that: see `agree`.
   */
  accepts({ permits }: Permits, count: number): boolean {
    const isExpected = this.#followsStored || permits === (this.#expected ?? permits)
    if (!isExpected || permits < count) return false
    this.#followsStored = true
    return true
  }

  /** Creates the node with the expected number, if there is one. Rejects with `NodeExists` if the node exists. */
  async store(options: EnsureOptions): Promise<void> {
    if (this.#expected !== undefined) await this.#zk.create(this.path, toBytes(this.#expected), options)
  }

  /** What this node stores; undefined if that is not a number yet. */
  parse(node: NodeData): Permits | undefined {
    return asPermits(this.#stored(node))
  }

  /**
   * What is stored. The expected number is stored first if nothing is. Rejects with `PermitsDiffer` if the two differ, unless
   * they were the same before. A number below `count` that it returns was read after a committed request.
   *
   * A server that lags may show what was stored before, and a leader that is cut off answers a sync at once. So before an error
   * is thrown, the number is read after a committed request.
   *
   * `sending` is called before each write. If it throws, nothing is stored.
   */
  async agree(session: Session, count: number, sending = () => {}): Promise<Permits> {
    const { pinned } = SessionOptions.of(session)
    let isCommitted = false
    for (let isRecent = !this.#followsStored; ; isRecent = true) {
      const stored = await (isRecent && !isCommitted ? this.#readAfterSync(pinned) : this.#read(pinned))
      const current = asPermits(stored)
      if (current === undefined && this.#expected !== undefined) {
        sending()
        await this.#write(stored, this.#expected, pinned)
        continue
      }
      if (current !== undefined && this.accepts(current, isCommitted ? 0 : count)) return current
      if (isCommitted) throw permitsDiffer(this.path, this.#expected, current?.permits)
      if (isRecent) {
        await afterCommit(this.#zk, this.path, pinned)
        isCommitted = true
      }
    }
  }

  /**
   * Stores this number, even if it seems to be stored already: what a server shows may be old. If two calls store a number at the
   * same time, the later one wins. If an answer was lost and the node has changed since, the change was this one, or came after
   * it: the number is not stored again. `sending` is called before each write.
   */
  async resize(permits: number, options: CallOptions, sending: () => void): Promise<void> {
    /** The version before a write whose outcome is not known. */
    let before: number | undefined
    for (;;) {
      const stored = await this.#readAfterSync(options)
      const version = stored?.version ?? -1
      if (version !== (before ?? version)) break
      sending()
      const outcome = await this.#write(stored, permits, options)
      if (outcome === 'stored') break
      if (outcome === 'unknown') before = version
    }
    this.#followsStored = true
  }

  /** Reads after a sync. Both are sent in one segment. */
  async #readAfterSync(options: CallOptions): Promise<Stored | undefined> {
    const syncing = awaitedLater(retry(this.#zk, () => this.#zk.sync(this.path, options), options.signal))
    const stored = await this.#read(options)
    await syncing
    return stored
  }

  async #read(options: CallOptions): Promise<Stored | undefined> {
    const reading = () => ifMissing((asking) => this.#zk.getData(this.path, asking), options, undefined)
    const node = await retry(this.#zk, reading, options.signal)
    return node && this.#stored(node)
  }

  #stored({ data, stat }: NodeData): Stored {
    if (data.length !== 0 && data.length !== LENGTH) throw permitsDiffer(this.path, this.#expected, data)
    return { permits: data.length === 0 ? undefined : view(data).getInt32(0), version: stat.version }
  }

  /** Compares and sets. `refused`: nothing was stored, because another client came first or a server was busy. */
  async #write(
    stored: Stored | undefined,
    permits: number,
    options: CallOptions,
  ): Promise<'stored' | 'refused' | 'unknown'> {
    const data = toBytes(permits)
    const acl = this.#acl
    try {
      if (stored === undefined) await this.#zk.create(this.path, data, { acl, parents: parentsWith(acl), ...options })
      else await this.#zk.setData(this.path, data, { version: stored.version, ...options })
      return 'stored'
    } catch (error) {
      if (KeeperError.is(error, 'BadVersion', 'NodeExists', 'NoNode')) return 'refused'
      await throwUnlessTransient(this.#zk, error, undefined, options.signal)
      return KeeperError.is(error) && error.outcomeUnknown ? 'unknown' : 'refused'
    }
  }
}

function toBytes(permits: number): Uint8Array {
  const bytes = new Uint8Array(LENGTH)
  view(bytes).setInt32(0, permits)
  return bytes
}

function view({ buffer, byteOffset }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, LENGTH)
}

function asPermits(stored: Stored | undefined): Permits | undefined {
  return stored?.permits === undefined ? undefined : { permits: stored.permits, version: stored.version }
}
