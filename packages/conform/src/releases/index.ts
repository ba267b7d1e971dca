export { behaviours, concerns, DEBIAN, isBefore, newest, type Releases } from '@zk/testing/internal'
export { type Halt, halts, nullInMulti, unreadableLimits, unreadableWrites } from './halts.ts'
export { RELEASES, releaseNamed } from './known.ts'
export { parseVersion } from './version.ts'
