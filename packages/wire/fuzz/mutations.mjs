// What can happen to bytes.

/** Lengths, counts and codes at the ends of what they can be. */
const INTS = [0, 1, -1, -2, 127, 128, 255, 256, 0xffff, 0x10000, 0xfffff, 0x3fffffff, 0x7fffffff, -0x80000000]

const mutations = [
  (bytes, random) => changed(bytes, random, (copy, at) => (copy[at] ^= 1 << random.below(8))),
  (bytes, random) => changed(bytes, random, (copy, at) => (copy[at] = random.next())),
  (bytes, random) => withInt(bytes, random, random.pick(INTS)),
  (bytes, random) => withInt(bytes, random, random.next() | 0),
  (bytes, random) => withInt(bytes, random, bytes.byteLength + random.below(9) - 4),
  // Some bytes missing, some more, some twice.
  (bytes, random) => spliced(bytes, random, (size) => [random.below(Math.min(size, 16) + 1)]),
  (bytes, random) => spliced(bytes, random, () => [0, ...garbage(random)]),
  (bytes, random) => spliced(bytes, random, (size, at) => [0, ...bytes.subarray(at, at + random.below(64))]),
  (bytes, random) => bytes.subarray(0, random.below(bytes.byteLength + 1)),
  (bytes, random) => Uint8Array.of(...bytes, ...garbage(random)),
]

/** One to four of them, one after the other. */
export function mutate(bytes, random) {
  let mutated = bytes
  for (let more = 1 + random.below(4); more > 0; more--) mutated = random.pick(mutations)(mutated, random)
  return mutated
}

function changed(bytes, random, change) {
  const copy = Uint8Array.from(bytes)
  if (copy.byteLength > 0) change(copy, random.below(copy.byteLength))
  return copy
}

function withInt(bytes, random, int) {
  const copy = Uint8Array.from(bytes)
  if (copy.byteLength >= 4) new DataView(copy.buffer).setInt32(random.below(copy.byteLength - 3), int)
  return copy
}

function spliced(bytes, random, change) {
  const at = random.below(bytes.byteLength + 1)
  const [removed, ...added] = change(bytes.byteLength, at)
  return Uint8Array.of(...bytes.subarray(0, at), ...added, ...bytes.subarray(at + removed))
}

function garbage(random) {
  return Array.from({ length: random.below(24) }, () => random.next() & (random.below(2) === 0 ? 0xff : 0x03))
}
