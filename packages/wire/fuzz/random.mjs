// Random numbers that are the same for the same seed, on every machine.

/** The generator of one case of a seed. */
export function randomOf(seed, index) {
  let state = (Math.imul(seed, 0x9e3779b1) + Math.imul(index, 0x85ebca6b)) | 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const below = (end) => next() % end
  return { next, below, pick: (items) => items[below(items.length)] }
}
