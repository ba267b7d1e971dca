import { KeeperError } from '@zk/client'
import { wasAborted } from '@zk/client/internal'

/**
 * Settles as the call does, but with `value` where it rejects because the node does not exist. `signal` is that of the call,
 * where it has one.
 */
export async function ifMissing<T, U>(call: Promise<T>, value: U, signal?: AbortSignal): Promise<T | U> {
  try {
    return await call
  } catch (error) {
    if (KeeperError.is(error, 'NoNode') && !wasAborted(error, signal)) return value
    throw error
  }
}
