// module org.apache.zookeeper.txn
import {
  boolean,
  buffer,
  int,
  long,
  record,
  type RecordType,
  type Type,
  type TypeOf,
  ustring,
  vector,
} from '../type.ts'
import { ACL } from './data.ts'

/** The digest of the tree after a transaction. Servers write it from 3.6 on. */
export const TxnDigest = record('TxnDigest', { version: int, treeDigest: long })
/** The header before each transaction of a log. `time` is in ms since the epoch, `type` is an `OpCode`. */
export const TxnHeader = record('TxnHeader', { clientId: long, cxid: int, zxid: long, time: long, type: int })
/** Transaction of a create in older logs: it has no `parentCVersion`. */
export const CreateTxnV0 = record('CreateTxnV0', { path: ustring, data: buffer, acl: vector(ACL), ephemeral: boolean })
/** Transaction of a create. */
// oxfmt-ignore
export const CreateTxn = record('CreateTxn', { path: ustring, data: buffer, acl: vector(ACL), ephemeral: boolean, parentCVersion: int })
/** Transaction of a create with a TTL, in ms. */
// oxfmt-ignore
export const CreateTTLTxn = record('CreateTTLTxn', { path: ustring, data: buffer, acl: vector(ACL), parentCVersion: int, ttl: long })
/** Transaction of the create of a container. */
// oxfmt-ignore
export const CreateContainerTxn = record('CreateContainerTxn', { path: ustring, data: buffer, acl: vector(ACL), parentCVersion: int })
/** Transaction of a delete. */
export const DeleteTxn = record('DeleteTxn', { path: ustring })
/** Transaction of a setData. `version` is the new one. */
export const SetDataTxn = record('SetDataTxn', { path: ustring, data: buffer, version: int })
/** Transaction of a check, a part of a multi. */
export const CheckVersionTxn = record('CheckVersionTxn', { path: ustring, version: int })
/** Transaction of a setACL. `version` is the new one. */
export const SetACLTxn = record('SetACLTxn', { path: ustring, acl: vector(ACL), version: int })
/** It is in zookeeper.jute, but no server makes such a transaction. */
export const SetMaxChildrenTxn = record('SetMaxChildrenTxn', { path: ustring, max: int })
/** Transaction of a new session. `timeOut` is in ms. */
export const CreateSessionTxn = record('CreateSessionTxn', { timeOut: int })
/** Transaction of the end of a session: the paths of its ephemeral nodes, to be deleted. Servers write it from 3.6 on. */
export const CloseSessionTxn = record('CloseSessionTxn', { paths2Delete: vector(ustring) })
/** Transaction of a refused request. It changes nothing. */
export const ErrorTxn = record('ErrorTxn', { err: int })
/** A part of the transaction of a multi. `type` is an `OpCode`, `data` the encoded record of that transaction. */
export const Txn = record('Txn', { type: int, data: buffer })
/** Transaction of a multi. */
export const MultiTxn: RecordType<{ txns: Type<readonly TypeOf<typeof Txn>[] | null> }> = record('MultiTxn', {
  txns: vector(Txn),
})
