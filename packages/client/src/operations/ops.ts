// The operations for `multi` and `multiRead`, made of the same descriptors as the calls.
import { type MultiOp, type MultiResult, OpCode, ProtocolError } from '@zk/wire'
import type { Chroot } from '../base/chroot.ts'
import type { Stat } from './stat.ts'
import { checkKeys, type Data, required } from '../base/arguments.ts'
import { check } from './check.ts'
import { getChildren, toNames } from './children.ts'
import { create, type CreateOptions } from './create.ts'
import { getData, type NodeData, setData } from './data.ts'
import { deleteNode, type VersionOptions } from './delete.ts'
import { type Operation, type WireOperation, wireOf } from './operation.ts'

/** Has the type of an operation's result, and no value. */
declare const result: unique symbol

/** One operation of a `multi`, made by `op`. `Result` is the type of its entry in the results of the `multi`. */
export interface Op<Result> {
  /** Marks an operation for a `multi`. */
  readonly kind: 'write'
  /** The path, as the caller named it. */
  readonly path: string
  /** @internal */
  readonly [result]?: Result
}

/** One operation of a `multiRead`, made by `op`. `Result` is the type of its value in the results, unless it is refused. */
export interface ReadOp<Result> {
  /** Marks an operation for a `multiRead`. */
  readonly kind: 'read'
  /** The path, as the caller named it. */
  readonly path: string
  /** @internal */
  readonly [result]?: Result
}

/** How an operation is encoded, and its answer decoded. Known to all copies of this package. */
const codecKey = Symbol.for('@zk/op.codec')

interface Codec {
  /** Makes the form for the wire. Throws a `TypeError` for invalid arguments. */
  readonly encode: (chroot: Chroot) => MultiOp
  /** Turns the answer into the result for the caller. */
  readonly result: (result: MultiResult, chroot: Chroot) => unknown
}

/** The codec of an operation; undefined for a value that `op` has not made. */
export function codecOf(operation: Op<unknown> | ReadOp<unknown>): Codec | undefined {
  return (operation as { readonly [codecKey]?: Codec })[codecKey]
}

/** Makes the operations for `multi` and `multiRead`. The arguments are checked when `multi` or `multiRead` is called. */
export const op = {
  /**
   * Creates a node. The result has no Stat: servers before 3.7.2, and 3.8 servers before 3.8.2, answer a create2 inside a
   * multi like a create, without one (ZOOKEEPER-4026).
   */
  create: (path: string, data?: Data, options: CreateOptions = {}): Op<{ readonly path: string }> =>
    part('write', createPart, path, data, options),

  /**
   * Deletes a node. If it is missing, has children, or has another version, the whole multi fails. -1, the default, matches any
   * version.
   */
  delete: (path: string, options: VersionOptions = {}): Op<void> => part('write', deleteNode, path, options),

  /** Sets the data of a node. The result is its new Stat. If it is missing or has another version, the whole multi fails. */
  setData: (path: string, data: Data, options: VersionOptions = {}): Op<Stat> =>
    part('write', setData, path, data, options),

  /** Checks a node, and changes nothing. If the node is missing or has another version, the whole multi fails. */
  check: (path: string, options: VersionOptions = {}): Op<void> => part('write', check, path, options),

  /** Reads the data of a node, in a `multiRead`. */
  getData: (path: string): ReadOp<NodeData> => part('read', getData, path),

  /** Reads the names of the children, in no particular order, in a `multiRead`. The result has no Stat of the parent. */
  getChildren: (path: string): ReadOp<string[]> => part('read', getChildrenPart, path),
}

/** An operation as part of a multi. It is encoded like the call, but its answer may be shorter. */
interface PartOf<Args extends readonly unknown[], Result> extends Pick<
  Operation<Args, WireOperation, unknown>,
  'name' | 'options' | 'wire'
> {
  encode(chroot: Chroot, ...args: Args): unknown
  /** The types of the answers. @default the type of the part */
  readonly answeredBy?: readonly number[]
  result(response: never, chroot: Chroot): Result
}

/** A container, or a node with a TTL, is answered like a create2. */
const createPart = {
  ...create,
  answeredBy: [OpCode.create, OpCode.create2],
  result: ({ path }: { readonly path: string | null }, chroot: Chroot) => ({
    path: chroot.relative(required(path, 'MultiResponse.path')),
  }),
}

const getChildrenPart = {
  ...getChildren,
  result: ({ children }: { readonly children: readonly (string | null)[] | null }) =>
    toNames(children, 'GetChildrenResponse.children'),
}

/** The types of parts whose opcodes differ from those of their calls: their answers have no Stat. */
const typesInMulti: Readonly<Record<number, number>> = {
  [OpCode.create2]: OpCode.create,
  [OpCode.getChildren2]: OpCode.getChildren,
}

function part<Kind extends 'write' | 'read', Args extends readonly [path: string, ...unknown[]], Result>(
  kind: Kind,
  operation: PartOf<Args, Result>,
  ...args: Args
): { readonly kind: Kind; readonly path: string; readonly [result]?: Result } {
  const { name, options, answeredBy } = operation
  const typeOf = () => {
    const { opCode } = wireOf(operation, args)
    return typesInMulti[opCode] ?? opCode
  }
  const codec: Codec = {
    encode: (chroot) => {
      if (options !== undefined) checkKeys(`op.${name}`, args.at(-1) as object, options.inMulti, options.example)
      const request = operation.encode(chroot, ...args)
      return { type: typeOf(), request } as MultiOp
    },
    result: ({ type, response }, chroot) => {
      if (answeredBy === undefined ? type === typeOf() : answeredBy.includes(type)) {
        return operation.result(response as never, chroot)
      }
      throw new ProtocolError(`a multi was answered with a result of type ${type}, but another type was expected`)
    },
  }
  // Not enumerable: it is not for the eyes of users.
  return Object.defineProperty({ kind, path: args[0] }, codecKey, { value: codec })
}

/** Copies the list: the caller may change its list before the reply arrives. Throws a `TypeError` if this is not a list. */
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
    const codec = each?.kind === kind ? codecOf(each) : undefined
    if (codec === undefined) {
      throw new TypeError(`operation ${index} cannot be part of a ${kind === 'write' ? 'multi' : 'multiRead'}`)
    }
    return codec.encode(chroot)
  })
}
