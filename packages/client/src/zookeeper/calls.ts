// How the methods of a client make calls: in which session, below which chroot, and with the stack of their caller.
import { throwAtCaller } from '../base/errors.ts'
import type { Chroot } from '../base/chroot.ts'
import { type CallOptions, checkCallOptions } from '../operations/call-options.ts'
import type { ErrorReply } from '../operations/error-reply.ts'
import type { Operation, WatchingOperation, WireOperation } from '../operations/operation.ts'
import { driverOf, type SessionDriver } from '../session/driver/session-driver.ts'
import { CallWatcher, type Watched } from './call-watcher.ts'
import type { SessionChain } from './session-chain.ts'

// Every public operation has exactly one `then` or `await` of ours: so promises settle in the order of the replies.

export class Calls {
  readonly sessions: SessionChain
  readonly chroot: Chroot

  constructor(sessions: SessionChain, chroot: Chroot) {
    this.sessions = sessions
    this.chroot = chroot
  }

  /** The session that a call is pinned to, or the current one. */
  sessionOf({ session }: CallOptions): SessionDriver {
    return session === undefined ? this.sessions.current : driverOf(session)
  }

  /** Not async: an async function makes five more objects for each call, which take a tenth of the time of a small read. */
  call<Args extends readonly unknown[], W extends WireOperation, Result>(
    operation: Operation<Args, W, Result>,
    args: Args,
    options: CallOptions,
    chroot?: Chroot,
  ): Promise<Exclude<Result, ErrorReply>> {
    try {
      const answer = this.submit(operation, args, options, chroot)
      return answer.then(undefined, options.signal === undefined ? throwAtCaller : throwing(options.signal))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** A read with a watch. `read` makes an object of its result, to which the watch is added. Not async: see `call`. */
  watch<W extends WireOperation, Result, Read extends object>(
    operation: WatchingOperation<W, Result>,
    path: string,
    options: CallOptions,
    read: (result: Exclude<Result, ErrorReply>) => Read,
    chroot = this.chroot,
  ): Promise<Read & Watched> {
    try {
      checkCallOptions(operation.name, options)
      const session = this.sessionOf(options)
      const watcher = new CallWatcher(operation.watch, path, chroot)
      const answer = session.call(operation, chroot, [path], options, { type: 'watch', watcher })
      const failed = options.signal === undefined ? throwAtCaller : throwing(options.signal)
      return answer.then((result) => watcher.addTo(read(result), session), failed)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Queues the request before it returns. Errors keep the stack of the socket. */
  submit<Args extends readonly unknown[], W extends WireOperation, Result>(
    operation: Operation<Args, W, Result>,
    args: Args,
    options: CallOptions,
    chroot = this.chroot,
  ): Promise<Exclude<Result, ErrorReply>> {
    checkCallOptions(operation.name, options, operation.options?.known, operation.options?.example)
    return this.sessionOf(options).call(operation, chroot, args, options)
  }
}

/** A function of its own: a closure in `call` would cost calls without a signal a context, too. */
const throwing = (signal: AbortSignal) => (error: unknown) => throwAtCaller(error, signal)
