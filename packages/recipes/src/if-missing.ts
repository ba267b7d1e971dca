import { KeeperError } from '@zk/client'

/** Settles as the call does, but with `value` where it rejects because the node does not exist. */
export async function ifMissing<T, U>(call: Promise<T>, value: U): Promise<T | U> {
  try {
    return await call
  } catch (error) {
    if (KeeperError.is(error, 'NoNode')) return value
    throw error
  }
}
