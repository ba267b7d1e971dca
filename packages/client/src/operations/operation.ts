import {
  type ErrorName,
  type Operation as WireOperation,
  type Reader,
  readNamed,
  type TypeOf,
  type Writer,
} from '@zk/wire'
import type { Chroot } from '../chroot.ts'
import type { ErrorContext, PreparedRequest, RequestInit } from '../session/requests/request.ts'
import type { WatchKind } from '../session/watches/watchers.ts'

/** A row of the wire's table of operations: opcode, records, and whether it reads or writes. */
export type Wire = WireOperation & { readonly opCode: number }

/** What the client adds to a row of the wire's table. */
export interface Operation<Args extends readonly unknown[], W extends Wire, Result> {
  /** The name of the client's method, for errors. */
  readonly name: string
  readonly wire: W | ((...args: Args) => W)
  /** Makes the request of the arguments. Throws a `TypeError` or `RangeError` for invalid ones. */
  readonly encode: (chroot: Chroot, ...args: Args) => TypeOf<W['request']>
  readonly result: (response: TypeOf<W['response']>, chroot: Chroot, errorContext?: () => ErrorContext) => Result
  /** The names of its own options, and an example of them. */
  readonly options?: { readonly known: ReadonlySet<string>; readonly example: string } | undefined
  /** The codes that are answers, not errors. */
  readonly answers?: Partial<Record<ErrorName, () => Result>> | undefined
  /** The paths of several operations in one request, by position. */
  readonly paths?: (() => readonly string[]) | undefined
}

/** An operation on a path that leaves a one-shot watch. */
export interface WatchingOperation<W extends Wire, Result> extends Operation<[path: string], W, Result> {
  readonly watch: WatchKind
}

/** What a call is about besides its operation: watches, and whether the client itself makes it. */
type About = Pick<RequestInit, 'watcher' | 'persistent' | 'removes' | 'isOwn'>

/** A call of the operation, for the session. */
export function prepare<Args extends readonly unknown[], W extends Wire, Result>(
  operation: Operation<Args, W, Result>,
  chroot: Chroot,
  args: Args,
  about: About = {},
): PreparedRequest {
  const value = operation.encode(chroot, ...args)
  const { wire } = operation
  return new OperationCall(operation, typeof wire === 'function' ? wire(...args) : wire, chroot, args[0], value, about)
}

type AnyOperation = Pick<Operation<never, Wire, unknown>, 'name' | 'answers' | 'paths'> & {
  result(response: unknown, chroot: Chroot, errorContext?: () => ErrorContext): unknown
}

/** A class, since every call makes one: what is alike for all calls of an operation is not copied, and no closure is made. */
class OperationCall implements PreparedRequest {
  readonly watcher: RequestInit['watcher']
  readonly persistent: RequestInit['persistent']
  readonly removes: RequestInit['removes']
  readonly isOwn: RequestInit['isOwn']
  readonly path: string | undefined
  readonly #operation: AnyOperation
  readonly #wire: Wire
  readonly #chroot: Chroot
  /** The request record, until it is written. */
  #value: unknown

  constructor(
    operation: AnyOperation,
    wire: Wire,
    chroot: Chroot,
    path: unknown,
    value: unknown,
    { watcher, persistent, removes, isOwn }: About,
  ) {
    this.#operation = operation
    this.#wire = wire
    this.#chroot = chroot
    this.#value = value
    this.path = typeof path === 'string' ? path : undefined
    this.watcher = watcher
    this.persistent = persistent
    this.removes = removes
    this.isOwn = isOwn
  }

  get op(): string {
    return this.#operation.name
  }

  get paths(): RequestInit['paths'] {
    return this.#operation.paths
  }

  get chroot(): string | undefined {
    return this.#chroot.path === '/' ? undefined : this.#chroot.path
  }

  get opCode(): number {
    return this.#wire.opCode
  }

  get kind(): RequestInit['kind'] {
    return this.#wire.kind
  }

  get answers(): RequestInit['answers'] {
    return this.#operation.answers
  }

  body(writer: Writer): void {
    this.#wire.request?.write(writer, this.#value)
    this.#value = undefined
  }

  /** An operation whose reply has no body makes its result of nothing. */
  result(reader: Reader, errorContext?: () => ErrorContext): unknown {
    const { response } = this.#wire
    return this.#operation.result(response && readNamed(response, reader), this.#chroot, errorContext)
  }
}
