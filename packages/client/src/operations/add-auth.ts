import { operations } from '@zk/wire'
import type { Operation } from './operation.ts'

export interface Credential {
  /** 'digest', 'ip', 'x509' … */
  readonly scheme: string
  /** The credential in the form of the scheme; `user:password` for 'digest'. */
  readonly auth: Uint8Array
}

/** The request is not sent as it is: `Credentials` sends the credential on every connection. */
export const addAuth: Operation<[credential: Credential], typeof operations.auth, void> = {
  name: 'addAuth',
  wire: operations.auth,
  encode: (_, credential) => ({ type: 0, ...credential }),
  result: () => undefined,
}
