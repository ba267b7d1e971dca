import type { BrokenServer } from './broken-server.ts'
import { watches } from './watches.ts'

/** By chapter. */
export const brokenServers: readonly BrokenServer[] = [...watches]
