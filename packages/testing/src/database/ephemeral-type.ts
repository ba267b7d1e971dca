// What the `ephemeralOwner` of a node says of its kind (EphemeralType).

/** The owner of a container (EphemeralType.CONTAINER_EPHEMERAL_OWNER). */
export const CONTAINER_OWNER = -0x8000000000000000n

/** In ms, about 34 years: what five bytes hold. */
export const LONGEST_TTL = 0xffffffffffn

const EXTENDED_BYTE = 0xff00000000000000n

/** The owner of a node with this TTL. */
export const ttlOwner = (ttl: bigint): bigint => BigInt.asIntN(64, EXTENDED_BYTE | ttl)

/** In ms, or undefined where the node has none. (No member has an id of 255, so that no session's id looks like this.) */
export function ttlOf(owner: bigint): bigint | undefined {
  return BigInt.asUintN(64, owner) >> 40n === EXTENDED_BYTE >> 40n ? owner & LONGEST_TTL : undefined
}

/** Whether it is a session: all that clients are told of owners. */
export const isSession = (owner: bigint): boolean =>
  owner !== 0n && owner !== CONTAINER_OWNER && ttlOf(owner) === undefined
