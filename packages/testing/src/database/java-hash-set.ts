// The order in which a real server lists names.

/**
 * A set of names that also knows in which order Java's HashSet walks them: by the low bits of their hash codes, those
 * with the same bits in the order they came. That is neither the order of creation nor that of the alphabet, and it is
 * not promised by ZooKeeper, but it is what a real server answers. (Its rare bins of more than eight names apart.)
 */
export class JavaHashSet extends Set<string> {
  /** Grows with the set, to twice the size at three quarters full, and never shrinks. */
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

  /** HashSet.clone: as small as its content allows, so that its order can be another one. */
  clone(): JavaHashSet {
    let capacity = 1
    while (capacity < Math.floor(this.size / 0.75 + 1)) capacity *= 2
    const clone = new JavaHashSet(this.size === 0 ? 16 : capacity)
    for (const name of this.inOrder()) clone.add(name)
    return clone
  }

  /** The same in every respect. */
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

/** HashMap.hash: the table takes the low bits, so the high ones are brought down. */
export const spread = (hash: number): number => hash ^ (hash >>> 16)
