// The parts of a virtual world, for the simulator and the tests of this repository, and what releases do, for @zk/conform. They
// may change with any version.
export { behaviours, concerns, DEBIAN, isBefore, newest, type Releases } from './database/index.ts'
export { type Clock, WALL_START } from './virtual/clock.ts'
export { drain, TURNS } from './virtual/drain.ts'
export type { Link } from './virtual/link.ts'
export { Network, type Observer } from './virtual/network.ts'
export { Random } from './virtual/random.ts'
export { Resolver } from './virtual/resolver.ts'
export { ServerHost } from './virtual/server-host.ts'
export { SimProcess } from './virtual/sim-process.ts'
export { Waits } from './virtual/waits.ts'
export { type Witness, World } from './virtual/world.ts'
