// Adds identities to a client.
import { toBytes } from '../base/arguments.ts'
import { noChroot } from '../base/chroot.ts'
import { atCaller } from '../base/errors.ts'
import { addAuth } from '../operations/add-auth.ts'
import { type CallOptions, checkCallOptions } from '../operations/call-options.ts'
import type { Calls } from './calls.ts'
import { checkAuth } from './options.ts'

export async function addAuthTo(
  calls: Calls,
  scheme: string,
  auth: Uint8Array | string,
  options: CallOptions,
): Promise<void> {
  checkAuth(scheme, auth)
  checkCallOptions('addAuth', options)
  const session = calls.sessionOf(options)
  // A copy: the credential is sent again on later connections, and the caller may overwrite its own memory.
  const credential = { scheme, auth: new Uint8Array(toBytes(auth)) }
  try {
    await session.call(addAuth, noChroot, [credential], options, { type: 'addAuth', credential })
  } catch (error) {
    throw atCaller(error, options?.signal)
  }
}
