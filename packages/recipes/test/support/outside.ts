// What these tests borrow from the neighbours, in one place: the virtual world of the client's tests.
export type { Link, Peer } from '../../../client/test/support/link.ts'
export { outcome, type Outcome, SeededRandom, VirtualWorld } from '../../../client/test/support/index.ts'
