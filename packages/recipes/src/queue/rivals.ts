// The kinds that queue together on a path, prepared once for many lists.
import { type ContenderName, type Kind, parseName } from './names.ts'

const utf8 = new TextEncoder()

export class Rivals {
  readonly kinds: readonly Kind[]
  /** The marker of each kind, in bytes. */
  readonly markers: readonly Uint8Array[]
  /**
   * Whether what is before the last ten digits may be the end of another marker, or of another marker and a sign. Then these
   * bytes do not show the kind.
   */
  readonly areAlike: boolean

  constructor(kinds: readonly Kind[]) {
    this.kinds = kinds
    this.markers = kinds.map(({ marker }) => utf8.encode(marker))
    const endsAs = (one: Kind) =>
      kinds.some((each) => (each !== one && each.marker.endsWith(one.marker)) || `${each.marker}-`.endsWith(one.marker))
    this.areAlike = kinds.some(endsAs)
  }

  /** undefined for a name that does not queue here. */
  parse(name: string): ContenderName | undefined {
    return parseName(name, this.kinds)
  }

  /** Whether contenders of another kind may go on as its kind. */
  mayFollow({ kind }: ContenderName): boolean {
    return this.kinds.some(({ successor }) => successor === kind)
  }
}
