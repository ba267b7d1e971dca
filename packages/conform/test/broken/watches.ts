import type { BrokenServer } from './broken-server.ts'

export const watches: readonly BrokenServer[] = []
