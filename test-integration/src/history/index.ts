export { append, type Entry, readLatest, readLog, turnsOf } from './log.ts'
export { machineTime } from './machine-time.ts'
export { longestGap, type Mode, outOfOrder, type Overlap, overlaps, type Turn } from './turns.ts'
