import { digestMd5 } from '@zk/client'

const username = 'client'
const password = 'secret'

/** Whom servers know. */
export const SASL_USERS = { [username]: password }

/** Who a client proves to be, if it does. */
export const saslOption = (usesSasl: boolean | undefined) =>
  usesSasl ? { sasl: digestMd5({ username, password }) } : {}
