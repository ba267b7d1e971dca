import type { BrokenServer } from './broken-server.ts'
import { framesNobodySends } from './frames-nobody-sends.ts'
import { framing } from './framing.ts'
import { handshake } from './handshake.ts'
import { nodes } from './nodes.ts'
import { order } from './order.ts'
import { rights } from './rights.ts'
import { sessions } from './sessions.ts'
import { transactions } from './transactions.ts'
import { watches } from './watches.ts'
import { words } from './words.ts'

/** By chapter. */
export const brokenServers: readonly BrokenServer[] = [
  ...framesNobodySends,
  ...framing,
  ...handshake,
  ...nodes,
  ...order,
  ...rights,
  ...sessions,
  ...transactions,
  ...watches,
  ...words,
]
