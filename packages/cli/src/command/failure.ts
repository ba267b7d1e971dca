// What zk says of an error, and the exit code.
import { ConnectError, isTransient, KeeperError, ZkError } from '@zk/client'
import { nearestOf } from '@zk/client/internal'
import { EXIT, exitCodeOf } from './exit.ts'
import { InputError } from './input.ts'
import { UnknownNameError, UsageError } from './options.ts'
import { OutputError, say } from './output.ts'

/** What could not be done at single nodes, while the command goes on with the others. Each failure is said at once. */
export class Failures {
  /** The exit code: that of the first failure. */
  code: number = EXIT.done

  /** Throws an error that others would follow: no server is reached, or the output cannot be written. */
  add(error: unknown): void {
    const isOfOneNode = error instanceof InputError || (KeeperError.is(error) && !isTransient(error))
    if (!isOfOneNode || KeeperError.is(error, 'Closed', 'AuthFailed')) throw error
    const code = report(error)
    if (this.code === EXIT.done) this.code = code
  }
}

/** Returns the exit code. */
export function report(error: unknown): number {
  if (error instanceof OutputError && error.isReaderGone) return EXIT.done
  // Ctrl-C at a question, for which the terminal sends no signal.
  if (error instanceof Error && error.name === 'AbortError') {
    say('interrupted')
    return exitCodeOf('SIGINT')
  }
  say(messageOf(error))
  return codeOf(error)
}

const REFUSALS: readonly string[] = ['NoAuth', 'AuthFailed', 'SessionClosedRequireSaslAuth']

/** The exit code of an error. */
export function codeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage
  if (error instanceof InputError) return EXIT.input
  if (error instanceof OutputError) return EXIT.output
  if (ConnectError.is(error)) return isUntrusted(error) ? EXIT.noPermission : EXIT.unavailable
  if (KeeperError.is(error)) {
    if (error.outcomeUnknown) return EXIT.outcomeUnknown
    if (error.code === 'NoNode') return EXIT.noNode
    if (REFUSALS.includes(error.code)) return EXIT.noPermission
    if (isTransient(error) || error.code === 'SessionExpired') return EXIT.unavailable
  }
  return EXIT.failed
}

/** Whether each server, or this client, has refused the certificate of the other: it will do so again. */
function isUntrusted({ servers }: ConnectError): boolean {
  const codes = servers.map(({ error }) => ('code' in error ? String(error.code) : ''))
  return codes.length > 0 && codes.every((code) => /CERT|UNKNOWN_CA|INVALID_CA|UNABLE_TO_VERIFY/.test(code))
}

export function messageOf(error: unknown): string {
  if (error instanceof UnknownNameError) {
    const nearest = nearestOf(error.unknown, error.known)
    return nearest === undefined ? error.message : `${error.message}: did you mean ${nearest}?`
  }
  if (ConnectError.is(error)) return withOptions(error.message)
  if (error instanceof UsageError || error instanceof InputError || error instanceof OutputError) return error.message
  if (ZkError.is(error)) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** The options of `connect`, which messages of the client name, by their names here. */
function withOptions(message: string): string {
  return message.replace(/\btls\.(ca|cert|key)\b/g, '--tls-$1').replace(/\btls\.servername\b/g, '--tls-server-name')
}
