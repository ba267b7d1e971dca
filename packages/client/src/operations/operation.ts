import { type ErrorName, type OpCode, readNamed, type Type } from '@zk/wire'
import type { Chroot } from '../chroot.ts'
import type { RequestInit, RequestKind } from '../session/request.ts'
import type { WatchKind } from '../session/watches.ts'

/** All there is to know of one operation of the client. */
export interface Operation<Args extends readonly unknown[], Req, Res, Result> {
  /** The client's method: for errors. */
  readonly name: string
  readonly opCode: OpCode | ((...args: Args) => OpCode)
  /** What a lost connection means for it. */
  readonly kind: Exclude<RequestKind, 'connection'>
  readonly request: Type<Req>
  /** undefined for an operation whose reply has no body. */
  readonly response?: Type<Res>
  /** The arguments as the request; throws a `TypeError` or `RangeError` for what cannot be sent. */
  readonly encode: (chroot: Chroot, ...args: Args) => Req
  readonly result: (response: Res, chroot: Chroot) => Result
  /** Codes that are answers, not errors. */
  readonly forgives?: Partial<Record<ErrorName, () => Result>>
}

/** An operation on a path that leaves a one-shot watch. */
export interface WatchingOperation<Req, Res, Result> extends Operation<[path: string], Req, Res, Result> {
  readonly watch: WatchKind
}

/** What the session is asked to do for a call of the operation. */
export function prepare<Args extends readonly unknown[], Req, Res, Result>(
  operation: Operation<Args, Req, Res, Result>,
  chroot: Chroot,
  args: Args,
): Omit<RequestInit, 'resolve' | 'reject' | 'expiresAt' | 'watcher'> {
  const { name, opCode, kind, request, response, encode, result, forgives } = operation
  const value = encode(chroot, ...args)
  const [path] = args
  return {
    op: name,
    path: typeof path === 'string' ? path : undefined,
    opCode: typeof opCode === 'function' ? opCode(...args) : opCode,
    kind,
    body: (writer) => request.write(writer, value),
    result: (reader) => result(response === undefined ? (undefined as Res) : readNamed(response, reader), chroot),
    forgives,
  }
}
