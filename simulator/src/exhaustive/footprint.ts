/**
 * What an event touches, as bits. Two events that are both possible, and touch nothing in common, commute: both orders lead
 * to the same state, and neither event disables the other. So one history is enough for all that differ only in the order of
 * such neighbours.
 *
 * - Clients share nothing: an event at one client touches that client only. The client appends to the end of a queue, and the
 * server
 *   takes from its beginning. A queue from which something is delivered is not empty, so both commute.
 * - An event at the server touches the server only, and so do its answers. Reads of different clients commute: they change
 * only
 *   the server's data about their own connections, such as watches. The end of a connection is such a read. Writes commute with
 *   nothing at the server, since each takes the next zxid.
 * - Events in which a hold begins, ends, or is to be released touch all holds and read the server. They are run in every
 * order among
 *   themselves and among the server's writes. So the checks that depend on such an order (which client held when, the
 *   server's state by then) see every order.
 */
export type Footprint = number

const READ = 1
const WRITE = 2
const HOLDS = 4
const FIRST_CLIENT = 8
/** The largest number of clients. */
const MOST_CLIENTS = 8

export const writing: Footprint = READ | WRITE
export const ofHolds: Footprint = HOLDS | READ
/** An event that commutes with nothing. */
export const everything: Footprint = -1

/** An event at the server, for one client. */
export function reading(client: number): Footprint {
  return READ | (FIRST_CLIENT << (MOST_CLIENTS + client))
}

export function ofClient(client: number): Footprint {
  return FIRST_CLIENT << client
}

export function touchesHolds(footprint: Footprint): boolean {
  return (footprint & HOLDS) !== 0
}

export function commute(one: Footprint, other: Footprint): boolean {
  const shared = one & other
  return shared === 0 || (shared === READ && ((one | other) & WRITE) === 0)
}
