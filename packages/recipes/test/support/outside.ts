// What these tests borrow from the neighbours, in one place: the virtual world of the client's tests, and the codec.
export type { Link, Listener, Peer } from '../../../client/test/support/link.ts'
export { outcome, type Outcome, SeededRandom, VirtualWorld } from '../../../client/test/support/index.ts'
export * from '../../../wire/src/index.ts'
