// Sets that list names in the order of a real server.

/**
 * A set of names in the order of Java's HashSet: by the low bits of their hash codes; names with the same bits are in the
 * order in which they were added. ZooKeeper does not promise this order, but real servers answer in it. (Rare exceptions are
 * bins of more than eight names.)
 */
export class JavaHashSet extends Set<string> {
  /** The capacity doubles when the set is three quarters full, and never shrinks. */
  #capacity: number

  constructor(capacity = 16) {
    super()
    this.#capacity = capacity
  }

  override add(name: string): this {
    super.add(name)
    if (this.size * 4 > this.#capacity * 3) this.#capacity *= 2
    return this
  }

  inOrder(): string[] {
    if (this.size < 2) return [...this]
    const mask = this.#capacity - 1
    const bins: { readonly name: string; readonly bin: number }[] = []
    for (const name of this) bins.push({ name, bin: spread(hashCode(name)) & mask })
    return bins.sort((a, b) => a.bin - b.bin).map(({ name }) => name)
  }

  /** HashSet.clone: the capacity becomes as small as the content allows. So the order may change. */
  clone(): JavaHashSet {
    let capacity = 1
    while (capacity < Math.floor(this.size / 0.75 + 1)) capacity *= 2
    const clone = new JavaHashSet(this.size === 0 ? 16 : capacity)
    for (const name of this.inOrder()) clone.add(name)
    return clone
  }

  /** A copy in the same order, with the same capacity. */
  copy(): JavaHashSet {
    const copy = new JavaHashSet(this.#capacity)
    for (const name of this) copy.add(name)
    return copy
  }
}

/** String.hashCode */
export function hashCode(text: string): number {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
  return hash
}

/** HashMap.hash: mixes the high bits into the low ones, which choose the place in the table. */
export const spread = (hash: number): number => hash ^ (hash >>> 16)
