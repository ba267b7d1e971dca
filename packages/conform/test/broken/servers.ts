import type { BrokenServer } from './broken-server.ts'
import { nodes } from './nodes.ts'
import { watches } from './watches.ts'

/** By chapter. */
export const brokenServers: readonly BrokenServer[] = [...nodes, ...watches]
