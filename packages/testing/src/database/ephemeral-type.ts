// The kind of a node, which is encoded in its `ephemeralOwner` (EphemeralType).

/** The owner of a container (EphemeralType.CONTAINER_EPHEMERAL_OWNER). */
export const CONTAINER_OWNER = -0x8000000000000000n

/** The longest TTL, in ms: five bytes, about 34 years. */
export const LONGEST_TTL = 0xffffffffffn

const EXTENDED_BYTE = 0xff00000000000000n

/** The owner of a node with this TTL. */
export const ttlOwner = (ttl: bigint): bigint => BigInt.asIntN(64, EXTENDED_BYTE | ttl)

/** The TTL in ms; undefined if the node has none. (No session id looks like a TTL, because no member has the id 255.) */
export function ttlOf(owner: bigint): bigint | undefined {
  return BigInt.asUintN(64, owner) >> 40n === EXTENDED_BYTE >> 40n ? owner & LONGEST_TTL : undefined
}

/** Whether the owner is a session. Only such owners are visible to clients. */
export const isSession = (owner: bigint): boolean =>
  owner !== 0n && owner !== CONTAINER_OWNER && ttlOf(owner) === undefined
