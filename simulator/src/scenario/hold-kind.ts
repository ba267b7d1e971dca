/** What a task acquires. */
export type HoldKind = 'exclusive' | 'read' | 'write' | 'permits' | 'locks'

interface KindTraits {
  /** The kinds that may hold at the same time as it. */
  readonly beside: readonly HoldKind[]
  /** The part of the names of its nodes that no other kind has. */
  readonly markers: readonly string[]
}

const traits: Readonly<Record<HoldKind, KindTraits>> = {
  exclusive: { beside: [], markers: ['lock-', 'latch-'] },
  read: { beside: ['read'], markers: ['__READ__'] },
  write: { beside: [], markers: ['__WRIT__'] },
  permits: { beside: ['permits'], markers: ['-lease-'] },
  // Its nodes are those of the other kinds: the checks look at each path by itself.
  locks: { beside: ['locks'], markers: [] },
}

/** Whether two holds of these kinds exclude each other. */
export function exclude(one: HoldKind, other: HoldKind): boolean {
  return !traits[one].beside.includes(other)
}

/** Whether several attempts of this kind may hold at the same time. */
export function isShared(kind: HoldKind): boolean {
  return !exclude(kind, kind)
}

/** The kind of the contender that made this node. */
export function kindOfNode(path: string): HoldKind | undefined {
  const all = Object.keys(traits) as HoldKind[]
  return all.find((kind) => traits[kind].markers.some((marker) => path.includes(marker)))
}
