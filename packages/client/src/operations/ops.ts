// The operations for `multi` and `multiRead`.
import { type MultiOp, type MultiResult, OpCode, ProtocolError } from '@zk/wire'
import type { Chroot } from '../chroot.ts'
import { type Stat, toStat } from './stat.ts'
import { checkKeys, versionIn, type Data, required, toBytes } from './arguments.ts'
import { toNames } from './children.ts'
import { checkTTL, type CreateOptions, hasTTL, toCreateRequest } from './create.ts'
import { type NodeData, toNodeData } from './data.ts'
import type { VersionOptions } from './delete.ts'

/** What every operation of a `multi` or a `multiRead` has. */
interface Part<Result> {
  /** The path, as the caller named it. */
  readonly path: string
  /** Makes the form for the wire. Throws a `TypeError` for invalid arguments. */
  readonly encode: (chroot: Chroot) => MultiOp
  /** Turns the answer into the result for the caller. */
  readonly result: (result: MultiResult, chroot: Chroot) => Result
}

/** One operation of a `multi`, made by `op`. `Result` is the type of its entry in the results of the `multi`. */
export interface Op<Result> extends Part<Result> {
  /** Marks an operation for a `multi`. */
  readonly kind: 'write'
}

/** One operation of a `multiRead`, made by `op`. `Result` is the type of its value in the results, unless it is refused. */
export interface ReadOp<Result> extends Part<Result> {
  /** Marks an operation for a `multiRead`. */
  readonly kind: 'read'
}

/** Makes the operations for `multi` and `multiRead`. The arguments are checked when `multi` or `multiRead` is called. */
export const op = {
  /**
   * Creates a node. The result has no Stat: servers before 3.7.2, and 3.8 servers before 3.8.2, answer a create2 inside a
   * multi like a create, without one (ZOOKEEPER-4026).
   */
  create: (path: string, data?: Data, options: CreateOptions = {}): Op<{ readonly path: string }> => ({
    kind: 'write',
    path,
    encode: (chroot) => {
      checkKeys('op.create', options, createOptions, "{ mode: 'EPHEMERAL' }")
      const request = toCreateRequest(chroot, path, data, options)
      const { mode, ttl } = options
      if (hasTTL(mode)) return { type: OpCode.createTTL, request: { ...request, ttl: checkTTL(ttl) } }
      return { type: mode === 'CONTAINER' ? OpCode.createContainer : OpCode.create, request }
    },
    result: (result, chroot) => {
      // A container, or a node with a TTL, is answered like a create2.
      if (result.type !== OpCode.create && result.type !== OpCode.create2) throw unexpected(result)
      return { path: chroot.relative(required(result.response.path, 'MultiResponse.path')) }
    },
  }),

  /**
   * Deletes a node. If it is missing, has children, or has another version, the whole multi fails. -1, the default, is any.
   */
  delete: (path: string, options: VersionOptions = {}): Op<void> => ({
    kind: 'write',
    path,
    encode: (chroot) => ({
      type: OpCode.delete,
      request: { path: chroot.absolute(path), version: versionOf('op.delete', options) },
    }),
    result: (result) => {
      if (result.type !== OpCode.delete) throw unexpected(result)
    },
  }),

  /** Sets the data of a node. The result is its new Stat. If it is missing or has another version, the whole multi fails. */
  setData: (path: string, data: Data, options: VersionOptions = {}): Op<Stat> => ({
    kind: 'write',
    path,
    encode: (chroot) => ({
      type: OpCode.setData,
      request: { path: chroot.absolute(path), data: toBytes(data), version: versionOf('op.setData', options) },
    }),
    result: (result) => {
      if (result.type !== OpCode.setData) throw unexpected(result)
      return toStat(result.response.stat)
    },
  }),

  /** Checks a node, and changes nothing. If the node is missing or has another version, the whole multi fails. */
  check: (path: string, options: VersionOptions = {}): Op<void> => ({
    kind: 'write',
    path,
    encode: (chroot) => ({
      type: OpCode.check,
      request: { path: chroot.absolute(path), version: versionOf('op.check', options) },
    }),
    result: (result) => {
      if (result.type !== OpCode.check) throw unexpected(result)
    },
  }),

  /** Reads the data of a node, in a `multiRead`. */
  getData: (path: string): ReadOp<NodeData> => ({
    kind: 'read',
    path,
    encode: (chroot) => ({ type: OpCode.getData, request: { path: chroot.absolute(path), watch: false } }),
    result: (result) => {
      if (result.type !== OpCode.getData) throw unexpected(result)
      return toNodeData(result.response)
    },
  }),

  /** Reads the names of the children, in no particular order, in a `multiRead`. The result has no Stat of the parent. */
  getChildren: (path: string): ReadOp<string[]> => ({
    kind: 'read',
    path,
    encode: (chroot) => ({ type: OpCode.getChildren, request: { path: chroot.absolute(path), watch: false } }),
    result: (result) => {
      if (result.type !== OpCode.getChildren) throw unexpected(result)
      return toNames(result.response.children, 'GetChildrenResponse.children')
    },
  }),
}

const createOptions = ['mode', 'acl', 'ttl']
const versionOptions = ['version']

function versionOf(name: string, options: VersionOptions): number {
  checkKeys(name, options, versionOptions, '{ version: 3 }')
  return versionIn(options)
}

/** Copies the list: the caller may change its list before the reply arrives. Throws a `TypeError` if this is no list. */
export function copyOf<Part>(method: 'multi' | 'multiRead', ops: readonly Part[]): readonly Part[] {
  if (Array.isArray(ops)) return [...(ops as readonly Part[])]
  const example = method === 'multi' ? "op.create('/a')" : "op.getData('/a')"
  throw new TypeError(`${method} takes a list of operations: ${method}([${example}, …])`)
}

/** Encodes a list of operations. Throws a `TypeError` if one of them does not have this `kind`. */
export function encodeParts(
  ops: readonly (Op<unknown> | ReadOp<unknown>)[],
  kind: 'write' | 'read',
  chroot: Chroot,
): MultiOp[] {
  return ops.map((each, index) => {
    if (each?.kind !== kind) {
      throw new TypeError(`operation ${index} cannot be part of a ${kind === 'write' ? 'multi' : 'multiRead'}`)
    }
    return each.encode(chroot)
  })
}

function unexpected({ type }: MultiResult): ProtocolError {
  return new ProtocolError(`a multi was answered with a result of type ${type} where another was asked for`)
}
