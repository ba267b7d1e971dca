import { type CallOptions, KeeperError } from '@zk/client'
import { expecting, wasAborted } from '@zk/client/internal'
import { SessionOptions } from './session-options.ts'

/** Handles an error: returns undefined if the node does not exist, and otherwise rethrows it. */
export function undefinedIfMissing(error: unknown): undefined {
  if (!KeeperError.is(error, 'NoNode')) throw error
}

/**
 * Settles as the call does, but resolves with `value` if the node does not exist. The call gets the given options, and one more,
 * so that a missing node is traced without an error.
 */
export async function ifMissing<Options extends CallOptions, Result, Value>(
  call: (options: Options) => Promise<Result>,
  options: Options,
  value: Value,
): Promise<Result | Value> {
  try {
    return await call(SessionOptions.has(options) ? options : expecting(options, 'NoNode'))
  } catch (error) {
    if (KeeperError.is(error, 'NoNode') && !wasAborted(error, options.signal)) return value
    throw error
  }
}
