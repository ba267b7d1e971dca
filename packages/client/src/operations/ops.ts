// The operations that a `multi` or a `multiRead` is made of.
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
  /** As the caller named it. */
  readonly path: string
  /** Its form on the wire. A `TypeError` for arguments that cannot be right. */
  readonly encode: (chroot: Chroot) => MultiOp
  /** What the caller gets of the answer to it. */
  readonly result: (result: MultiResult, chroot: Chroot) => Result
}

/** One operation of a `multi`, made by `op`. `Result` is what it yields there. */
export interface Op<Result> extends Part<Result> {
  /** It goes into a `multi`. */
  readonly kind: 'write'
}

/** One operation of a `multiRead`, made by `op`. `Result` is what it yields there, unless it is refused. */
export interface ReadOp<Result> extends Part<Result> {
  /** It goes into a `multiRead`. */
  readonly kind: 'read'
}

/** What `multi` and `multiRead` can do. The arguments of an operation are checked when it is called with it. */
export const op = {
  /** Without Stat: servers before 3.7.2 and 3.8.2 answer a create2 inside a multi with garbage (ZOOKEEPER-4026). */
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
      // A container, or a node with a TTL, is answered as a create2 is.
      if (result.type !== OpCode.create && result.type !== OpCode.create2) throw unexpected(result)
      return { path: chroot.relative(required(result.response.path, 'MultiResponse.path')) }
    },
  }),

  /** Fails the multi unless the node exists, has no children, and has this version (-1: any). */
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

  /** Fails the multi unless the node exists and has this version (-1: any). Gives the node's Stat after it. */
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

  /** Fails the multi unless the node exists and has this version (-1: any). */
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

  /** For a `multiRead`. */
  getData: (path: string): ReadOp<NodeData> => ({
    kind: 'read',
    path,
    encode: (chroot) => ({ type: OpCode.getData, request: { path: chroot.absolute(path), watch: false } }),
    result: (result) => {
      if (result.type !== OpCode.getData) throw unexpected(result)
      return toNodeData(result.response)
    },
  }),

  /** For a `multiRead`: names, not paths, in no order; without the Stat of the parent. */
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

const createOptions = new Set(['mode', 'acl', 'ttl'])
const versionOptions = new Set(['version'])

function versionOf(name: string, options: VersionOptions): number {
  checkKeys(name, options, versionOptions, '{ version: 3 }')
  return versionIn(options)
}

/** A copy of the list, which its caller may use again before the reply is here. */
export function copyOf<Part>(method: 'multi' | 'multiRead', ops: readonly Part[]): readonly Part[] {
  if (Array.isArray(ops)) return [...(ops as readonly Part[])]
  const example = method === 'multi' ? "op.create('/a')" : "op.getData('/a')"
  throw new TypeError(`${method} takes a list of operations: ${method}([${example}, …])`)
}

/** What a list of operations is sent as. Throws a `TypeError` where one is not of this kind. */
export function encodeParts(
  ops: readonly (Op<unknown> | ReadOp<unknown>)[],
  kind: 'write' | 'read',
  chroot: Chroot,
): MultiOp[] {
  return ops.map((each, index) => {
    if (each?.kind !== kind) {
      throw new TypeError(`operation ${index} is none for a ${kind === 'write' ? 'multi' : 'multiRead'}`)
    }
    return each.encode(chroot)
  })
}

function unexpected({ type }: MultiResult): ProtocolError {
  return new ProtocolError(`a multi was answered with a result of type ${type} where another was asked for`)
}
