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

export type { WireOperation }

/** What the client adds to an operation of `@zk/wire`, which has the opcode and the records. */
export interface Operation<Args extends readonly unknown[], W extends WireOperation, Result> {
  /** The name of the client's method, for errors. */
  readonly name: string
  /** A function if the arguments decide the opcode, as the mode of a create does. */
  readonly wire: W | ((...args: Args) => W)
  /** Turns the arguments into the request record. Throws a `TypeError` or `RangeError` for invalid arguments. */
  readonly encode: (chroot: Chroot, ...args: Args) => TypeOf<W['request']>
  /** Turns the response into the result of the call. */
  readonly result: (response: TypeOf<W['response']>, chroot: Chroot, errorContext?: () => ErrorContext) => Result
  /** The options that the method accepts, by default those of every call, and an example for error messages. */
  readonly options?: { readonly known: readonly string[]; readonly example: string } | undefined
  /**
   * The error codes that are normal results, each with a function that makes the result: `NoNode` in `exists` is undefined.
   */
  readonly answers?: Partial<Record<ErrorName, () => Result>> | undefined
  /** For a multi or a multiRead: the paths of its operations, in order, for traces. */
  readonly paths?: (() => readonly string[]) | undefined
}

/** A read that sets a one-shot watch on its path. */
export interface WatchingOperation<W extends WireOperation, Result> extends Operation<[path: string], W, Result> {
  readonly watch: WatchKind
}

/** The same read with a watch. `watch: true` in its request is a placeholder (`Request.askForWatch`). */
export function watching<W extends WireOperation, Result>(
  read: Operation<[path: string], W, Result>,
  watch: WatchKind,
): WatchingOperation<W, Result> {
  const encode = (chroot: Chroot, path: string) =>
    ({ path: chroot.absolute(path), watch: true }) as TypeOf<W['request']>
  return { ...read, name: `${read.name}AndWatch`, watch, encode }
}

/** What the session must know of a call besides its operation: watches, and whether the client itself makes the call. */
type CallContext = Pick<RequestInit, 'watcher' | 'persistent' | 'removes' | 'isOwn'>

const plain: CallContext = {}

/** Makes the request of one call, ready for `SessionDriver.call`. Throws for invalid arguments. */
export function prepare<Args extends readonly unknown[], W extends WireOperation, Result>(
  operation: Operation<Args, W, Result>,
  chroot: Chroot,
  args: Args,
  about: CallContext = plain,
): PreparedRequest {
  const value = operation.encode(chroot, ...args)
  const { wire } = operation
  return new OperationCall(operation, typeof wire === 'function' ? wire(...args) : wire, chroot, args[0], value, about)
}

type AnyOperation = Pick<Operation<never, WireOperation, unknown>, 'name' | 'answers' | 'paths'> & {
  result(response: unknown, chroot: Chroot, errorContext?: () => ErrorContext): unknown
}

/** The request of one call. A class costs each call less than an object with copied fields and a closure for each method. */
class OperationCall implements PreparedRequest {
  readonly path: string | undefined
  readonly #operation: AnyOperation
  readonly #wire: WireOperation
  readonly #chroot: Chroot
  readonly #about: CallContext
  /** The request record, until it is written. */
  #value: unknown

  constructor(
    operation: AnyOperation,
    wire: WireOperation,
    chroot: Chroot,
    path: unknown,
    value: unknown,
    about: CallContext,
  ) {
    this.#operation = operation
    this.#wire = wire
    this.#chroot = chroot
    this.#value = value
    this.path = typeof path === 'string' ? path : undefined
    this.#about = about
  }

  get op(): string {
    return this.#operation.name
  }

  get watcher(): RequestInit['watcher'] {
    return this.#about.watcher
  }

  get persistent(): RequestInit['persistent'] {
    return this.#about.persistent
  }

  get removes(): RequestInit['removes'] {
    return this.#about.removes
  }

  get isOwn(): RequestInit['isOwn'] {
    return this.#about.isOwn
  }

  get paths(): RequestInit['paths'] {
    return this.#operation.paths
  }

  get chroot(): string | undefined {
    return this.#chroot.shown
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

  /** If the reply has no body, `operation.result` gets undefined. */
  result(reader: Reader, errorContext?: () => ErrorContext): unknown {
    const { response } = this.#wire
    return this.#operation.result(response && readNamed(response, reader), this.#chroot, errorContext)
  }
}
