import type { ACL, CallOptions, WaitOptions, WatchIterator, ZooKeeper } from '@zk/client'
import { throwIfAborted } from '@zk/client/internal'
import { checkCall, checkGroup, checkName } from './checks.ts'
import { listMembers, type Member } from './member.ts'
import { Membership } from './membership.ts'
import type { ACLOptions } from '../kernel/acl-options.ts'
import { FreshValues, watchValues } from '../kernel/watch-values.ts'
import { WatchedMembers } from './watched-members.ts'

/** The member, and how long joining may take. */
export interface JoinOptions {
  /** The name of the member and of its node: one member has it at a time. @default a UUID */
  name?: string | undefined
  /** What others see of the member, an address for instance. @default empty */
  data?: Uint8Array | string | undefined
  /**
   * The longest wait in ms, for servers and for a taken name. A process that starts again under its name finds the node of its
   * former session, which disappears within the timeout of that session. Later, after an expired session, it limits only the wait
   * for the name. With 0 it does not wait for the name, but waits up to the session timeout for servers.
   * @default twice the session timeout
   */
  timeout?: number | undefined
  /** Ends the wait: `join` rejects with its reason. It does not end the membership. */
  signal?: AbortSignal | undefined
}

/**
 * A group: members join it, and any client can list and watch them. Its znodes are those of Curator's GroupMember: the node of
 * a member is ephemeral, has the member's name, and holds its data.
 *
 *     const group = new Group(zk, '/workers')
 *     await using me = await group.join({ name: 'host-1', data: 'host-1:8080' })
 *     for await (const members of group.watchMembers({ signal })) { … }
 *
 * The path and what is missing above it are created as containers. Servers delete them when the group is empty again.
 */
export class Group {
  /** The path passed to the constructor: the parent of the members' nodes. */
  readonly path: string
  readonly #zk: ZooKeeper
  readonly #acl: readonly ACL[] | undefined

  constructor(zk: ZooKeeper, path: string, options: ACLOptions = {}) {
    checkGroup('new Group', zk, path, options)
    this.path = path
    this.#zk = zk
    this.#acl = options.acl
  }

  /**
   * Becomes a member. Resolves when the member's node exists. From then on the node is created again automatically: in the next
   * session when a session expires, and when another client deletes it (at once, and after pauses up to 10 s when that happens
   * again and again).
   *
   * Rejects with a `WaitTimeoutError`, `NameTaken`, when another member keeps the name for `timeout` ms, with
   * `RequestTimeout` when no server answers in that time, with the reason of the signal, and with a permanent error
   * (`NoAuth`, `Closed` …). Then nothing is left behind.
   */
  async join(options: JoinOptions = {}): Promise<Membership> {
    checkCall('join', options)
    const { name = this.#zk.runtime.uuid(), data = '', signal, timeout = 2 * this.#zk.session.timeout } = options
    checkName('name', name, this.path)
    throwIfAborted(signal)
    const membership = new Membership({ zk: this.#zk, path: this.path }, { name, data, acl: this.#acl, timeout })
    await membership.entered({ timeout, signal })
    return membership
  }

  /** The members, sorted by name. A member that leaves during the reads is left out. */
  async members(options: CallOptions = {}): Promise<Member[]> {
    checkCall('members', options)
    return await listMembers({ zk: this.#zk, path: this.path }, options)
  }

  /**
   * The members now, and again whenever a member comes, goes or writes its data, until the signal aborts. Sorted by name. It
   * continues across lost connections and expired sessions, and never goes back to an older list.
   *
   * Each list is whole: it has exactly the members that the group had after one transaction, and the data of each is from that
   * time or later. The data of two members may be from different times. Changes that happen while the loop works on one list are
   * combined.
   *
   * While members come and go again faster than they can be read, in two round trips, nothing is yielded. When this client loses its
   * server, the last list is yielded again, and `isStale` of the iterator is true; once more when it is confirmed.
   *
   * Leave the loop, or abort: both remove the watches from the server. The watches of an iterator that is dropped stay until they fire.
   */
  watchMembers(options: Pick<WaitOptions, 'signal'> = {}): WatchIterator<readonly Member[]> {
    return watchValues(options, (signal) => {
      checkCall('watchMembers', options)
      return new FreshValues(new WatchedMembers({ zk: this.#zk, path: this.path }, signal), signal)
    })
  }
}
