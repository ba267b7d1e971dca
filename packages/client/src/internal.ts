// The exports for @zk/recipes besides the public API. They may change with any version.
export { onAbort, wasAborted } from './aborts.ts'
export { expecting } from './call-options.ts'
export { publish } from './telemetry/diagnostics.ts'
export { checkKeys } from './operations/arguments.ts'
export { NameList } from './operations/name-list.ts'
export { getChildNames, logWith } from './zookeeper.ts'
export { hex } from './hex.ts'
export { elapsedBetween, elapsedSince, type Timestamp, timestamp } from './timestamp.ts'
