import { operations } from '@zk/wire'
import { required } from '../base/arguments.ts'
import type { Operation } from './operation.ts'

/** One identity of the connection. */
export interface ClientInfo {
  /** The scheme: `ip`, `digest`, `sasl` … */
  readonly authScheme: string
  /** The id as the server reports it: an address, or a name without its secret; '' for the superuser. */
  readonly user: string
}

type Read = Operation<[], typeof operations.whoAmI, ClientInfo[]>

export const whoAmI: Read = {
  name: 'whoAmI',
  wire: operations.whoAmI,
  // The request has no body.
  encode: () => undefined as never,
  result: ({ clientInfo }) =>
    required(clientInfo, 'WhoAmIResponse.clientInfo').map(({ authScheme, user }) => ({
      authScheme: required(authScheme, 'ClientInfo.authScheme'),
      user: required(user, 'ClientInfo.user'),
    })),
}
