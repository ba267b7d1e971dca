// A member of a group, as its node shows it.
import { type CallOptions, type KeeperError, type Stat, type Watched, type ZooKeeper } from '@zk/client'
import { hex } from '@zk/client/internal'
import { callEach } from '../kernel/call-each.ts'
import { ifMissing } from '../kernel/if-missing.ts'
import { retry } from '../kernel/retry.ts'
import { isUnreadable, unknownStat } from '../kernel/unreadable.ts'
import { within } from '../kernel/limit.ts'

const utf8 = new TextDecoder()

/** A member of a group, as it was when its node was read. In JSON its data is text, and its numbers of 64 bits are `0x…`. */
export class Member {
  /** The name of its node. */
  readonly name: string
  /** The path of its node. */
  readonly path: string
  /** The data of its node; empty if this client may not read it: see `error`. */
  readonly data: Uint8Array
  /** The session that its node belongs to; 0 for a node without a session, which stays until a client deletes it. */
  readonly sessionId: bigint
  /** When its node was created, by the leader's clock, in ms since the epoch. A member that was absent has a new node. */
  readonly since: number
  /** The transaction that created its node. */
  readonly czxid: bigint
  /** The transaction that last wrote its data. */
  readonly mzxid: bigint
  /**
   * Why its data could not be read: `NoAuth`. Such a member is not followed when it writes its data. A server from 3.8.4 or 3.9.2
   * on does not even tell whose node it is: then `sessionId`, `since`, `czxid` and `mzxid` are 0.
   */
  readonly error: KeeperError | undefined

  /** @internal */
  constructor(name: string, path: string, stat: Stat, data: Uint8Array | KeeperError) {
    this.name = name
    this.path = path
    this.data = data instanceof Uint8Array ? data : new Uint8Array()
    this.sessionId = stat.ephemeralOwner
    this.since = stat.ctime
    this.czxid = stat.czxid
    this.mzxid = stat.mzxid
    this.error = data instanceof Uint8Array ? undefined : data
  }

  /** The data as text. */
  get text(): string {
    return utf8.decode(this.data)
  }

  /** For logs. */
  toJSON(): object {
    const { name, path, text, sessionId, since, czxid, mzxid, error } = this
    return { name, path, text, sessionId: hex(sessionId), since, czxid: hex(czxid), mzxid: hex(mzxid), error }
  }
}

/** The group whose members are read. */
export interface MembersFolder {
  readonly zk: ZooKeeper
  readonly path: string
}

/** See `Group.members`. `read` is called with each member as soon as it is read, so its work is spread over the reads. */
export async function listMembers(
  folder: MembersFolder,
  options: CallOptions,
  read: (member: Member) => void = () => {},
): Promise<Member[]> {
  const { zk, path } = folder
  return await within(folder, 'members', options, async (limited) => {
    const listing = (asking: CallOptions) => retry(zk, () => zk.getChildren(path, asking), limited.signal)
    const names = (await ifMissing(listing, limited, undefined))?.children ?? []
    const members = await callEach(names.sort(), async (name) => {
      const member = await readMember(folder, name, limited)
      if (member !== undefined) read(member)
      return member
    })
    return members.filter((member) => member !== undefined)
  })
}

/** Resolves with undefined if the member is gone. */
async function readMember(folder: MembersFolder, name: string, options: CallOptions): Promise<Member | undefined> {
  const path = `${folder.path}/${name}`
  const { zk } = folder
  const reading = (asking: CallOptions) => retry(zk, () => zk.getData(path, asking), options.signal)
  try {
    const node = await ifMissing(reading, options, undefined)
    return node && new Member(name, path, node.stat, node.data)
  } catch (error) {
    if (!isUnreadable(error, options)) throw error
    return await readUnreadable(folder, name, error, options)
  }
}

/**
 * The same, and a watch on its data; the watch is undefined if this client may not read the node: servers from 3.8.4 and 3.9.2 on
 * send no events of such a node to it.
 */
export async function watchMember(
  folder: MembersFolder,
  name: string,
  options: CallOptions,
): Promise<{ readonly member: Member; readonly watch: Watched | undefined } | undefined> {
  const path = `${folder.path}/${name}`
  const { zk } = folder
  const reading = (asking: CallOptions) => retry(zk, () => zk.getDataAndWatch(path, asking), options.signal)
  try {
    const node = await ifMissing(reading, options, undefined)
    return node && { member: new Member(name, path, node.stat, node.data), watch: node }
  } catch (error) {
    if (!isUnreadable(error, options)) throw error
    const member = await readUnreadable(folder, name, error, options)
    return member && { member, watch: undefined }
  }
}

/** Even a node that this client may not read is a member. */
async function readUnreadable(
  { zk, path: parent }: MembersFolder,
  name: string,
  error: KeeperError,
  options: CallOptions,
): Promise<Member | undefined> {
  const path = `${parent}/${name}`
  try {
    const stat = await retry(zk, () => zk.exists(path, options), options.signal)
    return stat && new Member(name, path, stat, error)
  } catch (refusal) {
    if (!isUnreadable(refusal, options)) throw refusal
    return new Member(name, path, unknownStat, error)
  }
}
