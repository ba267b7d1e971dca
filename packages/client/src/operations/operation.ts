import { type ErrorName, type Operation as WireOperation, readNamed, type TypeOf } from '@zk/wire'
import type { Chroot } from '../chroot.ts'
import type { Call, RequestInit, ErrorContext } from '../session/requests/request.ts'
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
  readonly result: (response: TypeOf<W['response']>, chroot: Chroot, where?: () => ErrorContext) => Result
  /** The names of its own options, and an example of them. */
  readonly options?: { readonly known: ReadonlySet<string>; readonly example: string } | undefined
  /** The codes that are answers, not errors. */
  readonly forgives?: Partial<Record<ErrorName, () => Result>> | undefined
  /** The paths of several operations in one request, by position. */
  readonly paths?: (() => readonly string[]) | undefined
}

/** An operation on a path that leaves a one-shot watch. */
export interface WatchingOperation<W extends Wire, Result> extends Operation<[path: string], W, Result> {
  readonly watch: WatchKind
}

/** The order to the session for a call of the operation. */
export function prepare<Args extends readonly unknown[], W extends Wire, Result>(
  { name, wire, encode, result, forgives, paths }: Operation<Args, W, Result>,
  chroot: Chroot,
  args: Args,
  { watcher, removes }: Pick<RequestInit, 'watcher' | 'removes'> = {},
): Omit<RequestInit, keyof Call> {
  const value = encode(chroot, ...args)
  const { opCode, kind, request, response } = typeof wire === 'function' ? wire(...args) : wire
  const [path] = args
  return {
    op: name,
    path: typeof path === 'string' ? path : undefined,
    paths,
    chroot: chroot.path === '/' ? undefined : chroot.path,
    opCode,
    kind,
    watcher,
    removes,
    body: (writer) => request?.write(writer, value),
    // An operation whose reply has no body makes its result of nothing.
    result: (reader, where) =>
      result((response && readNamed(response, reader)) as TypeOf<W['response']>, chroot, where),
    forgives,
  }
}
