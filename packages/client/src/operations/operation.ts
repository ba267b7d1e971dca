// Operations are data: what the client adds to an operation of `@zk/wire`. Calls, the parts of a multi, and requests that the
// session makes for itself are all made of them.
import type { ErrorName, Operation as WireOperation, TypeOf } from '@zk/wire'
import type { Chroot } from '../base/chroot.ts'
import type { KeeperErrorDetails } from '../base/errors.ts'

export type { WireOperation }

/** The kind of a one-shot watch: the read that sets it. */
export type WatchKind = 'data' | 'exist' | 'child'

/** The fields of errors about the session and its server. */
export type ErrorContext = Pick<KeeperErrorDetails, 'server' | 'sessionId' | 'isLastSession'>

/** An operation, for code that only knows its name and its answers. */
export interface AnyOperation {
  /** The name of the client's method, for errors. */
  readonly name: string
  /** Turns the response into the result of the call. Without this function the response is not read. */
  result?(response: unknown, chroot: Chroot, errorContext?: () => ErrorContext): unknown
  /**
   * The error codes that are normal results, each with a function that makes the result: `NoNode` in `exists` is undefined.
   */
  readonly answers?: Partial<Record<ErrorName, () => unknown>> | undefined
  /** For a multi or a multiRead: the paths of its operations, in order, for traces. */
  readonly paths?: (() => readonly string[]) | undefined
}

/** What the client adds to an operation of `@zk/wire`, which has the opcode and the records. */
export interface Operation<Args extends readonly unknown[], W extends WireOperation, Result> extends AnyOperation {
  /** A function if the arguments decide the opcode, as the mode of a create does. */
  readonly wire: W | ((...args: Args) => W)
  /** Turns the arguments into the request record. Throws a `TypeError` or `RangeError` for invalid arguments. */
  readonly encode: (chroot: Chroot, ...args: Args) => TypeOf<W['request']>
  readonly result: (response: TypeOf<W['response']>, chroot: Chroot, errorContext?: () => ErrorContext) => Result
  /** The options that the operation accepts, by default those of every call. */
  readonly options?: OperationOptions | undefined
  readonly answers?: Partial<Record<ErrorName, () => Result>> | undefined
}

export interface OperationOptions {
  /** The options of the call. */
  readonly known: readonly string[]
  /** The options in a multi. */
  readonly inMulti: readonly string[]
  /** For error messages. */
  readonly example: string
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

/** The opcode and the records of a call with these arguments. */
export function wireOf<Args extends readonly unknown[], W extends WireOperation>(
  { wire }: Pick<Operation<Args, W, unknown>, 'wire'>,
  args: Args,
): W {
  return typeof wire === 'function' ? wire(...args) : wire
}
