import { digestMd5 } from '@zk/client'

const username = 'client'
const password = 'secret'

/** The users of the servers. */
export const SASL_USERS = { [username]: password }

/** The identity that a client proves, if it does. */
export const saslOption = (usesSasl: boolean | undefined) =>
  usesSasl ? { sasl: digestMd5({ username, password }) } : {}
