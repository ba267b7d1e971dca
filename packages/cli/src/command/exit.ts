import { constants } from 'node:os'

/** The exit codes of `zk` itself. A command that has run gives its own, and 128 + n if signal n has ended it. */
export const EXIT = {
  done: 0,
  /** The lock was not acquired in time. `-E` chooses another code. */
  notAcquired: 1,
  /** The question was answered with no. */
  notDone: 1,
  /** Of `diff`: there are differences. */
  different: 1,
  usage: 64,
  /** Standard input or a file is not as it must be: JSON is malformed, or it ends early. */
  input: 65,
  /** There is no such node. */
  noNode: 66,
  /** No server was reached, or the session ended. */
  unavailable: 69,
  /** Standard output cannot be written. */
  output: 74,
  /** The lock was lost, and the command was stopped. */
  lost: 75,
  /** A write was sent, and its answer was lost. */
  outcomeUnknown: 76,
  noPermission: 77,
  /** Any other answer of the servers. */
  failed: 70,
} as const

/** The exit code of a process that a signal has ended, as shells give it. */
export function exitCodeOf(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}
