import { type ErrorName, type Operation as WireOperation, readNamed, type TypeOf } from '@zk/wire'
import type { Chroot } from '../chroot.ts'
import type { Call, RequestInit, ErrorContext } from '../session/requests/request.ts'
import type { WatchKind } from '../session/watches/watchers.ts'

/** A row of the wire's table of operations: opcode, records, and what a lost connection means. */
export type Wire = WireOperation & { readonly opCode: number }

/** All that the client adds to a row of the wire's table. */
export interface Operation<Args extends readonly unknown[], W extends Wire, Result> {
  /** The client's method: for errors. */
  readonly name: string
  readonly wire: W | ((...args: Args) => W)
  /** The arguments as the request; throws a `TypeError` or `RangeError` for what cannot be sent. */
  readonly encode: (chroot: Chroot, ...args: Args) => TypeOf<W['request']>
  readonly result: (response: TypeOf<W['response']>, chroot: Chroot, where?: () => ErrorContext) => Result
  /** The names of its options, where it has more than every call; and what to write. */
  readonly options?: { readonly known: ReadonlySet<string>; readonly example: string } | undefined
  /** Codes that are answers, not errors. */
  readonly forgives?: Partial<Record<ErrorName, () => Result>> | undefined
  /** The paths of several operations in one request, by position. */
  readonly paths?: (() => readonly string[]) | undefined
}

/** An operation on a path that leaves a one-shot watch. */
export interface WatchingOperation<W extends Wire, Result> extends Operation<[path: string], W, Result> {
  readonly watch: WatchKind
}

/** What the session is asked to do for a call of the operation. */
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
    // An operation without a body in its reply makes its result of nothing.
    result: (reader, where) =>
      result((response && readNamed(response, reader)) as TypeOf<W['response']>, chroot, where),
    forgives,
  }
}
