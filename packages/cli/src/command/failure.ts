// What zk says of an error, and the exit code.
import { ConnectError, isTransient, KeeperError, ZkError } from '@zk/client'
import { nearestOf } from '@zk/client/internal'
import { EXIT } from './exit.ts'
import { UnknownNameError, UsageError } from './options.ts'
import { OutputError, say } from './output.ts'

/** Returns the exit code. */
export function report(error: unknown): number {
  if (error instanceof OutputError && error.isReaderGone) return EXIT.done
  say(messageOf(error))
  return codeOf(error)
}

/** The exit code of an error. */
export function codeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage
  if (error instanceof OutputError) return EXIT.output
  if (ConnectError.is(error)) return EXIT.unavailable
  if (KeeperError.is(error)) {
    if (error.outcomeUnknown) return EXIT.outcomeUnknown
    if (error.code === 'NoNode') return EXIT.noNode
    if (error.code === 'NoAuth' || error.code === 'AuthFailed') return EXIT.noPermission
    if (isTransient(error) || error.code === 'SessionExpired') return EXIT.unavailable
  }
  return EXIT.failed
}

export function messageOf(error: unknown): string {
  if (error instanceof UnknownNameError) {
    const nearest = nearestOf(error.unknown, error.known)
    return nearest === undefined ? error.message : `${error.message}: did you mean ${nearest}?`
  }
  if (error instanceof UsageError || error instanceof OutputError || ZkError.is(error)) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
