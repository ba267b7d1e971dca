// module org.apache.zookeeper.data
import type { Reader } from '../reader.ts'
import { int, long, record, type Type, type TypeOf, ustring } from '../type.ts'

export const Id = record('Id', { scheme: ustring, id: ustring })
export type Id = TypeOf<typeof Id>

export const ACL = record('ACL', { perms: int, id: Id })
export type ACL = TypeOf<typeof ACL>

export interface Stat {
  /** zxid of the transaction that created the node */
  readonly czxid: bigint
  /** zxid of the transaction that last set the node's data */
  readonly mzxid: bigint
  /** creation time by the leader's clock, milliseconds since the epoch */
  readonly ctime: bigint
  /** time of the last change of the data, milliseconds since the epoch */
  readonly mtime: bigint
  /** number of changes of the data */
  readonly version: number
  /** number of changes of the children */
  readonly cversion: number
  /** number of changes of the ACL */
  readonly aversion: number
  /** id of the session that owns an ephemeral node; 0 for others, containers and TTL nodes among them */
  readonly ephemeralOwner: bigint
  /** length of the data in bytes */
  readonly dataLength: number
  /** number of children */
  readonly numChildren: number
  /** zxid of the transaction that last created or deleted a child */
  readonly pzxid: bigint
}

// oxfmt-ignore
const plain = record('Stat', { czxid: long, mzxid: long, ctime: long, mtime: long, version: int, cversion: int, aversion: int, ephemeralOwner: long, dataLength: int, numChildren: int, pzxid: long })

/** Read by hand: nearly every reply carries one. One cut short takes the plain way, whose error names the field. */
export const Stat: Type<Stat> & Pick<typeof plain, 'fields'> = {
  ...plain,
  read: (reader) => (reader.remaining < plain.minSize ? plain.read(reader) : readWhole(reader)),
}

// oxfmt-ignore
export const StatPersisted = record('StatPersisted', { czxid: long, mzxid: long, ctime: long, mtime: long, version: int, cversion: int, aversion: int, ephemeralOwner: long, pzxid: long })
export const ClientInfo = record('ClientInfo', { authScheme: ustring, user: ustring })

function readWhole(reader: Reader): Stat {
  return {
    czxid: reader.long(),
    mzxid: reader.long(),
    ctime: reader.long(),
    mtime: reader.long(),
    version: reader.int(),
    cversion: reader.int(),
    aversion: reader.int(),
    ephemeralOwner: reader.long(),
    dataLength: reader.int(),
    numChildren: reader.int(),
    pzxid: reader.long(),
  }
}
