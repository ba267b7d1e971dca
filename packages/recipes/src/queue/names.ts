// Names of contenders: `_c_<uuid>-lock-0000000007`. They are Curator's names, byte for byte, so that JVM and Go processes can
// queue on the same path. The uuid lets a client find its node if the create was not answered. The digits are the counter of the
// parent, which the server appends.

/** The kind of a contender. Every recipe has kinds of its own: see `Role`. */
export interface Kind {
  readonly name: string
  /** The part of the node's name between uuid and counter. */
  readonly marker: string
  /** The kind of the node that may take the place of a contender of this kind: see `successorName`. */
  readonly successor?: Kind
  /**
   * Who holds at the head of the queue: only the first contender; all contenders of this kind at the head; or nobody, because
   * contenders leave the queue when they are granted.
   * @default 'first'
   */
  readonly granted?: 'first' | 'all' | 'none'
}

export interface ContenderName {
  readonly name: string
  readonly uuid: string
  readonly kind: Kind
  /** The parent's counter when the node was created. */
  readonly sequence: number
}

const NAME = /^_c_([0-9a-f-]{32,36})-/
const COUNTER = /^(?:\d{10}|-\d{9,10})$/
/** The part before the marker if the uuid has dashes, as usual. Matching it takes half the time of `NAME`: lists have many names. */
const WITH_DASHES = /^_c_[0-9a-f-]{36}-/
const UUID_START = 3
const UUID_END = 39

/** The name for a sequential create, without the counter. */
export function namePrefix({ marker }: Kind, uuid: string): string {
  return `_c_${uuid}-${marker}`
}

/** The parts of a name; undefined if it is not a contender of one of these kinds. */
export function parseName(name: string, kinds: readonly Kind[]): ContenderName | undefined {
  const uuid = WITH_DASHES.test(name) ? name.slice(UUID_START, UUID_END) : NAME.exec(name)?.[1]
  if (uuid === undefined) return undefined
  const rest = name.slice(UUID_START + uuid.length + 1)
  const kind = kinds.find(({ marker }) => rest.startsWith(marker) && COUNTER.test(rest.slice(marker.length)))
  return kind && { name, uuid, kind, sequence: Number(rest.slice(kind.marker.length)) }
}

/**
 * The name of the node that takes a contender's place, as Curator's downgraded reader does. It has the number of the contender's
 * node, and its uuid without dashes. If numbers do not give the order, the missing dashes show that this node has the place of an
 * older node.
 */
export function successorName({ name, uuid, kind, sequence }: ContenderName): ContenderName {
  const { successor } = kind
  if (successor === undefined) throw new TypeError(`${name} can have no successor`)
  const bare = uuid.replaceAll('-', '')
  return {
    name: name.replace(uuid, bare).replace(kind.marker, successor.marker),
    uuid: bare,
    kind: successor,
    sequence,
  }
}
