import type { Check } from '../../../checks/check.ts'
import { healthySessions } from '../../../checks/healthy-sessions.ts'
import { callOrder } from './01-call-order.ts'
import { serverOrder } from './02-server-order.ts'
import { outcomes } from './03-outcomes.ts'
import { silence } from './04-silence.ts'
import { nothingHangs } from './05-nothing-hangs.ts'
import { afterReconnection } from './06-after-reconnection.ts'
import { expiry } from './07-expiry.ts'
import { localExpiry } from './08-local-expiry.ts'
import { brokenServers } from './09-broken-servers.ts'
import { unknownNumbers } from './10-unknown-numbers.ts'

/** The checks of histories of plain calls, one for each promise of the client, in their order: P1 to P11. */
export const promises: readonly Check[] = [
  callOrder,
  serverOrder,
  outcomes,
  silence,
  nothingHangs,
  afterReconnection,
  expiry,
  localExpiry,
  brokenServers,
  unknownNumbers,
  healthySessions('P11'),
]
