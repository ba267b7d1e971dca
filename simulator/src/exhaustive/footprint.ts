/**
 * What an event touches, as bits. Two events that are both possible, and touch nothing in common, commute: in either order
 * the same state comes of them, and neither disables the other. So of all histories that differ only in the order of such
 * neighbours one is enough.
 *
 * - Clients share nothing: an event at one client touches that client only. What it sends goes to the end of a queue whose
 *   beginning is the server's, and a queue that is delivered from is not empty, so both commute.
 * - A server's event touches the server only, what it answers likewise. Reads of different clients commute: they change
 *   nothing but what the server keeps for their own connections, watches above all; the end of a connection is one of them.
 *   Writes commute with nothing at the server, for each takes the next zxid.
 * - Events in which a hold begins, ends, or is told to be released touch all holds and look at the server: they are run in
 *   every order among themselves and among the server's writes. So what is asked of a history by the order of such things
 *   (which client held when, what the server had by then) is asked of every order there can be.
 */
export type Footprint = number

const READ = 1
const WRITE = 2
const HOLDS = 4
const FIRST_CLIENT = 8
/** No more clients than this. */
const MOST_CLIENTS = 8

export const writing: Footprint = READ | WRITE
export const ofHolds: Footprint = HOLDS | READ
/** Commutes with nothing. */
export const everything: Footprint = -1

/** At the server, for one client. */
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
