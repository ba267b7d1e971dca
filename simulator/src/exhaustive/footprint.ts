/**
 * What an event touches, as bits. Two events that are both possible, and do not clash in what they touch, commute: both orders
 * lead to the same state, and neither event disables the other. So one history is enough for all that differ only in the order
 * of such neighbours.
 *
 * - Clients share nothing: an event at one client touches that client only. The client appends to the end of a queue, and the
 *   server takes from its beginning. A queue from which something is delivered is not empty, so the two actions commute.
 * - An event at the server touches no client. Reads of different clients commute: they change only the server's data about
 *   their own connections, such as watches. The end of a connection is such a read. A read and a write commute if they are of
 *   different parts of the tree. (The header of a reply also has the last zxid of the server. A client uses this only to find
 *   out that a server is behind, and there is only one server here.) Writes do not commute, since each takes the next zxid. A
 *   write also touches each connection to which it sends: an event is before or behind a reply there.
 * - A grant and the loss of a hold touch all holds, since checks depend on their order. Most checks also depend on what the
 *   server had committed by then: so such an event reads the whole tree. The search then tries it before and after each write.
 */
export type Footprint = number

const GRANT = 1
const LOSS = 2
const WRITE = 4
/** The number of parts of the tree. */
const PARTS = 4
/** The largest number of clients. */
const CLIENTS = 8
// Where the bits of each kind begin.
const READ_PARTS = 3
const WRITTEN_PARTS = READ_PARTS + PARTS
const AT_CLIENTS = WRITTEN_PARTS + PARTS
const CONNECTIONS = AT_CLIENTS + CLIENTS

/** Parts of the tree, as bits. */
export type Parts = number
export const allParts: Parts = (1 << PARTS) - 1

/** The part with this number. The last part is everything else. */
export function part(number: number): Parts {
  if (number >= PARTS) throw new RangeError(`the tree has ${PARTS} parts: there is no part ${number}`)
  return 1 << number
}
export const theRest: Parts = part(PARTS - 1)

export function reading(parts: Parts): Footprint {
  return parts << READ_PARTS
}

export function writing(parts: Parts): Footprint {
  return WRITE | (parts << WRITTEN_PARTS)
}

/** What the server keeps for the connections of a client, and sends on them. */
export function ofConnections(client: number): Footprint {
  return 1 << (CONNECTIONS + client)
}

export function ofClient(client: number): Footprint {
  return 1 << (AT_CLIENTS + client)
}

/**
 * Grants and losses whose checks compare only holds that exist at the same time. Two grants commute, two losses commute, and
 * both commute with everything at the server.
 */
export const granting: Footprint = GRANT
export const losing: Footprint = LOSS
/** An event of a hold that commutes with no other event of a hold, and with no write. */
export const ofHolds: Footprint = GRANT | LOSS | reading(allParts)
/** An event that commutes with nothing. */
export const everything: Footprint = -1

/** The bits of clients and connections: two events that share one of them do not commute. */
const UNSHARED = -1 << AT_CLIENTS

export function touchesHolds(footprint: Footprint): boolean {
  return (footprint & (GRANT | LOSS)) !== 0
}

export function commute(one: Footprint, other: Footprint): boolean {
  const bothWrite = (one & other & WRITE) !== 0
  return (one & other & UNSHARED) === 0 && !bothWrite && !disturbs(one, other) && !disturbs(other, one)
}

/** Whether the first one writes what the second one reads, or is a loss while the second one is a grant. */
function disturbs(one: Footprint, other: Footprint): boolean {
  const writes = (one >> WRITTEN_PARTS) & allParts
  const reads = (other >> READ_PARTS) & allParts
  return (writes & reads) !== 0 || ((one & LOSS) !== 0 && (other & GRANT) !== 0)
}
