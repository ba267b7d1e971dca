// Names of contenders, Curator's byte for byte, so that JVM and Go processes can queue on the same path:
// `_c_<uuid>-lock-0000000007`. The uuid finds a node again whose create was not answered; the digits are the parent's
// counter, which the server appends.

/** What stands between uuid and counter: what the contender wants. */
export const marker = { lock: 'lock-', latch: 'latch-', read: '__READ__', write: '__WRIT__' } as const
/** What a contender wants: an exclusive lock, to lead, to read or to write. */
export type Kind = keyof typeof marker

export interface ContenderName {
  readonly name: string
  readonly uuid: string
  readonly kind: Kind
  /** The parent's counter when the node was made. */
  readonly sequence: number
}

const kinds = Object.keys(marker) as Kind[]
const NAME = new RegExp(`^_c_([0-9a-f-]{32,36})-(${Object.values(marker).join('|')})(\\d{10}|-\\d{9,10})$`)

/** The name to create sequentially. */
export function namePrefix(kind: Kind, uuid: string): string {
  return `_c_${uuid}-${marker[kind]}`
}

/** undefined for the name of something that is no contender. */
export function parseName(name: string): ContenderName | undefined {
  const match = NAME.exec(name)
  const kind = kinds.find((each) => marker[each] === match?.[2])
  if (match === null || kind === undefined) return undefined
  return { name, uuid: match[1]!, kind, sequence: Number(match[3]) }
}

/**
 * The reader's name in the place of this writer. It has the writer's number, as Curator's has, and shows, also where numbers
 * say nothing, that it stands in a writer's place: its uuid, the writer's, has no dashes.
 */
export function downgradedName({ name, uuid, ...writer }: ContenderName): ContenderName {
  const bare = uuid.replaceAll('-', '')
  return { ...writer, name: name.replace(uuid, bare).replace(marker.write, marker.read), uuid: bare, kind: 'read' }
}

export function isDowngraded({ kind, uuid }: ContenderName): boolean {
  return kind === 'read' && !uuid.includes('-')
}
