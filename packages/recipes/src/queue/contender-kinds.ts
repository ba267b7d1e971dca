// The kinds of contenders that queue together on a path. What all lists need from them is computed once.
import { type ContenderName, type Kind, parseName } from './names.ts'

const utf8 = new TextEncoder()

export class ContenderKinds {
  readonly kinds: readonly Kind[]
  /** The marker of each kind, in bytes. */
  readonly markers: readonly Uint8Array[]
  /**
   * Whether the bytes before the last ten digits do not show the kind, because a marker is also the end of another marker, or
   * of a marker and a minus sign.
   */
  readonly areAlike: boolean

  constructor(kinds: readonly Kind[]) {
    this.kinds = kinds
    this.markers = kinds.map(({ marker }) => utf8.encode(marker))
    const endsAs = (one: Kind) =>
      kinds.some((each) => (each !== one && each.marker.endsWith(one.marker)) || `${each.marker}-`.endsWith(one.marker))
    this.areAlike = kinds.some(endsAs)
  }

  /** The parts of a name; undefined if it is not a contender of these kinds. */
  parse(name: string): ContenderName | undefined {
    return parseName(name, this.kinds)
  }

  /** Whether this contender may be the successor of a contender of another kind. */
  mayFollow({ kind }: ContenderName): boolean {
    return this.kinds.some(({ successor }) => successor === kind)
  }
}
