// The value of a counter, and how it is stored: as Curator's DistributedAtomicLong does, in 8 bytes, big-endian.

const LOWEST = -(1n << 63n)
const HIGHEST = (1n << 63n) - 1n

export function toBytes(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigInt64(0, value)
  return bytes
}

/** An empty node counts as 0, as in Curator. Any other length means that the node is not a counter: it is never overwritten. */
export function toValue(path: string, { byteLength, byteOffset, buffer }: Uint8Array): bigint {
  if (byteLength === 0) return 0n
  if (byteLength === 8) return new DataView(buffer, byteOffset).getBigInt64(0)
  throw new TypeError(`${path} is not a counter: its data has ${byteLength} bytes, and a counter has 8, or none`)
}

/** Checks the result of a change. Throws if it is not a possible value of a counter. */
export function checked(path: string, value: unknown): bigint {
  checkBigint('the function of update must return', value)
  if (value >= LOWEST && value <= HIGHEST) return value
  throw new RangeError(`${path} would overflow: ${value} is not between -2^63 and 2^63 - 1`)
}

export function checkBigint(what: string, value: unknown): asserts value is bigint {
  if (typeof value !== 'bigint') throw new TypeError(`${what} a bigint, such as 1n, not ${typeof value}`)
}
