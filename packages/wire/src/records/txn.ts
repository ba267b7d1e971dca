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

export const TxnDigest = record('TxnDigest', { version: int, treeDigest: long })
export const TxnHeader = record('TxnHeader', { clientId: long, cxid: int, zxid: long, time: long, type: int })
export const CreateTxnV0 = record('CreateTxnV0', { path: ustring, data: buffer, acl: vector(ACL), ephemeral: boolean })
// oxfmt-ignore
export const CreateTxn = record('CreateTxn', { path: ustring, data: buffer, acl: vector(ACL), ephemeral: boolean, parentCVersion: int })
// oxfmt-ignore
export const CreateTTLTxn = record('CreateTTLTxn', { path: ustring, data: buffer, acl: vector(ACL), parentCVersion: int, ttl: long })
// oxfmt-ignore
export const CreateContainerTxn = record('CreateContainerTxn', { path: ustring, data: buffer, acl: vector(ACL), parentCVersion: int })
export const DeleteTxn = record('DeleteTxn', { path: ustring })
export const SetDataTxn = record('SetDataTxn', { path: ustring, data: buffer, version: int })
export const CheckVersionTxn = record('CheckVersionTxn', { path: ustring, version: int })
export const SetACLTxn = record('SetACLTxn', { path: ustring, acl: vector(ACL), version: int })
export const SetMaxChildrenTxn = record('SetMaxChildrenTxn', { path: ustring, max: int })
export const CreateSessionTxn = record('CreateSessionTxn', { timeOut: int })
export const CloseSessionTxn = record('CloseSessionTxn', { paths2Delete: vector(ustring) })
export const ErrorTxn = record('ErrorTxn', { err: int })
export const Txn = record('Txn', { type: int, data: buffer })
export const MultiTxn: RecordType<{ txns: Type<readonly TypeOf<typeof Txn>[] | null> }> = record('MultiTxn', {
  txns: vector(Txn),
})
