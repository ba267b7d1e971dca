// module org.apache.zookeeper.data
import type { Reader } from '../reader.ts'
import { int, long, record, type Type, type TypeOf, ustring } from '../type.ts'

/** An identity: a scheme such as `digest`, and an id of that scheme. */
export const Id = record('Id', { scheme: ustring, id: ustring })
/** The values of `Id`. */
export type Id = TypeOf<typeof Id>

/** An entry of an ACL: the permissions of an identity. `perms` has bits of `Perms`. */
export const ACL = record('ACL', { perms: int, id: Id })
/** The values of `ACL`. */
export type ACL = TypeOf<typeof ACL>

/** The properties of a node besides its data: the values of the record `Stat`. */
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
  /** id of the session that owns an ephemeral node; 0 for all other nodes, including containers and TTL nodes */
  readonly ephemeralOwner: bigint
  /** length of the data in bytes */
  readonly dataLength: number
  /** number of children */
  readonly numChildren: number
  /** zxid of the transaction that last created or deleted a child */
  readonly pzxid: bigint
}

/** Writes a `Stat` field by field. Also reads a `Stat` that is cut short. */
// oxfmt-ignore
const plain = record('Stat', { czxid: long, mzxid: long, ctime: long, mtime: long, version: int, cversion: int, aversion: int, ephemeralOwner: long, dataLength: int, numChildren: int, pzxid: long })

/**
 * The record of a `Stat`. A whole one is read without the list of fields, for speed: nearly every reply has a `Stat`. If it
 * is cut short, `plain` throws an error that names the missing field.
 */
export const Stat: Type<Stat> & Pick<typeof plain, 'fields'> = {
  ...plain,
  read: (reader) => (reader.remaining < plain.minSize ? plain.read(reader) : readWhole(reader)),
}

/** The `Stat` of a node in a snapshot of a server. */
// oxfmt-ignore
export const StatPersisted = /* @__PURE__ */ record('StatPersisted', { czxid: long, mzxid: long, ctime: long, mtime: long, version: int, cversion: int, aversion: int, ephemeralOwner: long, pzxid: long })
/** An identity that a connection has proved: part of the response of `whoAmI`. */
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
