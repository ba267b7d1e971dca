// The transaction of a request that changes one node. The checks are those of PrepRequestProcessor, in the same order.
import {
  type CheckVersionRequest,
  type DeleteRequest,
  ErrorCode,
  type Id,
  Perms,
  type SetACLRequest,
  type SetDataRequest,
  type TypeOf,
} from '@zk/wire'
import type { Txn } from '../server/txn.ts'
import { allowed, fixupACL } from './acl.ts'
import { type ChangeRecords, type NodeView, viewOf } from './change-records.ts'
import { checkMode, type CreateOp, isCreate, type Mode, ttlIn } from './create-mode.ts'
import { CONTAINER_OWNER, isSession, ttlOwner } from './ephemeral-type.ts'
import { hasParent, isSpecialPath, isValidPath, parentOf } from './paths.ts'
import type { Growth, Quotas } from './quota.ts'
import type { Release } from './releases.ts'

/** A request, either alone or as an operation of a multi. */
export type NodeOp =
  | CreateOp
  | { readonly op: 'delete'; readonly request: TypeOf<typeof DeleteRequest> }
  | { readonly op: 'setData'; readonly request: TypeOf<typeof SetDataRequest> }
  | { readonly op: 'setACL'; readonly request: TypeOf<typeof SetACLRequest> }
  | { readonly op: 'check'; readonly request: TypeOf<typeof CheckVersionRequest> }

export const isNodeOp = (op: { readonly op: string | undefined }): op is NodeOp => isCreate(op) || OTHERS.has(op.op)

const OTHERS: ReadonlySet<string | undefined> = new Set(['delete', 'setData', 'setACL', 'check'])

/** The client of a request, and the earlier changes. */
export interface PrepareContext {
  readonly changes: ChangeRecords
  readonly sessionId: bigint
  readonly authInfo: readonly Id[]
  readonly zxid: bigint
  readonly release: Release
  readonly extendedTypesEnabled: boolean
  /** undefined if quotas are not enforced. */
  readonly quotas: Quotas | undefined
  /** The schemes that ACLs may have. @default digest and ip */
  readonly schemes?: ReadonlySet<string> | undefined
}

export const refuse = (err: number): Txn => ({ type: 'error', err })

export function prepareNode(op: NodeOp, context: PrepareContext): Txn {
  switch (op.op) {
    case 'create':
    case 'create2':
    case 'createContainer':
    case 'createTTL':
      return create(op, context)
    case 'delete':
      return remove(op.request, context)
    case 'setData':
      return setData(op.request, context)
    case 'setACL':
      return setACL(op.request, context)
    case 'check':
      return check(op.request, context)
  }
}

/** The end of a sequential name: ten digits, or a minus and nine or ten digits. `counter` counts all children. */
export function sequenceSuffix(counter: number): string {
  return counter < 0 ? `-${String(-counter).padStart(9, '0')}` : String(counter).padStart(10, '0')
}

function create(op: CreateOp, context: PrepareContext): Txn {
  const { changes, sessionId, authInfo, zxid } = context
  const mode = checkMode(op, context.extendedTypesEnabled)
  if (typeof mode === 'number') return refuse(mode)
  const { data } = op.request
  let { path } = op.request
  // ZooKeeper throws a NullPointerException here, which nothing catches.
  if (path === null) return refuse(ErrorCode.MarshallingError)
  // Here the path must only have a parent. The path itself is checked after ACL and parent.
  if (!hasParent(path)) return refuse(ErrorCode.BadArguments)
  const acl = fixupACL(op.request.acl, authInfo, context)
  if (typeof acl === 'number') return refuse(acl)
  const parentPath = parentOf(path)
  const parent = changes.get(parentPath)
  if (parent === undefined) return refuse(ErrorCode.NoNode)
  if (!allowed(parent.acl, Perms.CREATE, authInfo)) return refuse(ErrorCode.NoAuth)
  if (mode.isSequential) path += sequenceSuffix(parent.cversion)
  if (!isValidPath(path)) return refuse(ErrorCode.BadArguments)
  if (changes.get(path) !== undefined) return refuse(ErrorCode.NodeExists)
  if (isEphemeral(parent)) return refuse(ErrorCode.NoChildrenForEphemerals)

  const dataLength = data?.byteLength ?? 0
  const excess = overQuota(path, { count: 1, bytes: dataLength }, context)
  if (excess !== undefined) return excess

  const cversion = (parent.cversion + 1) | 0
  changes.add(zxid, parentPath, viewOf(parent, { cversion, childCount: parent.childCount + 1 }))
  // As in ZooKeeper the flags decide the record, but the opcode the transaction: they can differ until it is applied.
  const ephemeralOwner = ownerFor(mode, op, sessionId)
  changes.add(zxid, path, { version: 0, cversion: 0, aversion: 0, ephemeralOwner, childCount: 0, dataLength, acl })
  if (op.op === 'createTTL') {
    return { type: 'create', path, data, acl, kind: 'ttl', ttl: op.request.ttl, parentCVersion: cversion }
  }
  const kind = op.op === 'createContainer' ? 'container' : mode.isEphemeral ? 'ephemeral' : 'persistent'
  return { type: 'create', path, data, acl, kind, parentCVersion: cversion }
}

function remove({ path, version }: TypeOf<typeof DeleteRequest>, context: PrepareContext): Txn {
  const { changes, authInfo, release, zxid } = context
  if (path === null) return refuse(ErrorCode.MarshallingError)
  // The path is not validated here: '/a/' fails because there is no such node.
  if (!hasParent(path) || isSpecialPath(path)) return refuse(ErrorCode.BadArguments)
  const parent = changes.get(parentOf(path))
  if (parent === undefined) return refuse(ErrorCode.NoNode)
  const node = changes.get(path)
  if (node === undefined && release.showsMissingNodes) return refuse(ErrorCode.NoNode)
  if (!allowed(parent.acl, Perms.DELETE, authInfo)) return refuse(ErrorCode.NoAuth)
  if (node === undefined) return refuse(ErrorCode.NoNode)
  if (isOtherVersion(node.version, version)) return refuse(ErrorCode.BadVersion)
  if (node.childCount > 0) return refuse(ErrorCode.NotEmpty)
  return removed(path, parent, changes, zxid)
}

/** Deletes an empty container, or a node whose TTL is over, for the leader. No right is checked. */
export function removeContainer(path: string, { changes, zxid }: PrepareContext): Txn {
  if (!hasParent(path) || isSpecialPath(path)) return refuse(ErrorCode.BadArguments)
  const node = changes.get(path)
  if (node === undefined) return refuse(ErrorCode.NoNode)
  if (node.childCount > 0) return refuse(ErrorCode.NotEmpty)
  if (isEphemeral(node)) return refuse(ErrorCode.BadVersion)
  const parent = changes.get(parentOf(path))
  if (parent === undefined) return refuse(ErrorCode.NoNode)
  return removed(path, parent, changes, zxid)
}

function removed(path: string, parent: NodeView, changes: ChangeRecords, zxid: bigint): Txn {
  changes.add(zxid, parentOf(path), viewOf(parent, { childCount: parent.childCount - 1 }))
  changes.add(zxid, path, undefined)
  return { type: 'delete', path }
}

function setData(asked: TypeOf<typeof SetDataRequest>, context: PrepareContext): Txn {
  const { changes, authInfo, zxid } = context
  const { path, data } = asked
  if (!isValidPath(path)) return refuse(ErrorCode.BadArguments)
  const node = changes.get(path)
  if (node === undefined) return refuse(ErrorCode.NoNode)
  if (!allowed(node.acl, Perms.WRITE, authInfo)) return refuse(ErrorCode.NoAuth)
  const dataLength = data?.byteLength ?? 0
  const excess = overQuota(path, { count: 0, bytes: dataLength - node.dataLength }, context)
  if (excess !== undefined) return excess
  if (isOtherVersion(node.version, asked.version)) return refuse(ErrorCode.BadVersion)
  const version = (node.version + 1) | 0
  changes.add(zxid, path, viewOf(node, { version, dataLength }))
  return { type: 'setData', path, data, version }
}

function setACL(asked: TypeOf<typeof SetACLRequest>, context: PrepareContext): Txn {
  const { changes, authInfo, zxid } = context
  const { path } = asked
  if (!isValidPath(path)) return refuse(ErrorCode.BadArguments)
  // If the ACL is invalid and the node does not exist, the ACL is reported.
  const acl = fixupACL(asked.acl, authInfo, context)
  if (typeof acl === 'number') return refuse(acl)
  const node = changes.get(path)
  if (node === undefined) return refuse(ErrorCode.NoNode)
  if (!allowed(node.acl, Perms.ADMIN, authInfo)) return refuse(ErrorCode.NoAuth)
  if (isOtherVersion(node.aversion, asked.version)) return refuse(ErrorCode.BadVersion)
  const version = (node.aversion + 1) | 0
  // The record keeps the old ACL: until the transaction is applied, later requests are checked against the old one.
  changes.add(zxid, path, viewOf(node, { aversion: version }))
  return { type: 'setACL', path, acl, version }
}

function check({ path, version }: TypeOf<typeof CheckVersionRequest>, { changes, authInfo }: PrepareContext): Txn {
  if (!isValidPath(path)) return refuse(ErrorCode.BadArguments)
  const node = changes.get(path)
  if (node === undefined) return refuse(ErrorCode.NoNode)
  if (!allowed(node.acl, Perms.READ, authInfo)) return refuse(ErrorCode.NoAuth)
  if (isOtherVersion(node.version, version)) return refuse(ErrorCode.BadVersion)
  return { type: 'check', path, version: (node.version + 1) | 0 }
}

function overQuota(path: string, more: Growth, { quotas }: PrepareContext): Txn | undefined {
  const verdict = quotas?.check(path, more) ?? 'fine'
  if (verdict === 'fine') return undefined
  return refuse(verdict === 'exceeded' ? ErrorCode.QuotaExceeded : ErrorCode.MarshallingError)
}

function ownerFor(mode: Mode, op: CreateOp, sessionId: bigint): bigint {
  if (mode.isContainer) return CONTAINER_OWNER
  if (mode.isTTL) return ttlOwner(ttlIn(op))
  return mode.isEphemeral ? sessionId : 0n
}

const isEphemeral = ({ ephemeralOwner }: NodeView) => isSession(ephemeralOwner)

const isOtherVersion = (version: number, expected: number) => expected !== -1 && expected !== version
