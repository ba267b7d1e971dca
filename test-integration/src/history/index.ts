export { append, type Entry, type Note, permitsOf, readLatest, readLog, turn, turnsOf, type Unwritten } from './log.ts'
export { machineTime } from './machine-time.ts'
export { areSame, ToldTree } from './told-tree.ts'
export { byPermit, longestGap, type Mode, outOfOrder, type Overlap, overlaps, type Turn } from './turns.ts'
