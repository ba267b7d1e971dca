// What servers of one release do differently from Debian's 3.8.0, on which @zk/testing is modelled.
import { hasReached, isBefore } from './version.ts'

/** Some of the releases. */
export interface Releases {
  /** Only releases before this one, such as `3.6` or `3.8.4`. @default all */
  readonly before?: string
  /** Only these releases, later releases of their lines, and all later lines. @default all */
  readonly since?: readonly string[]
}

export interface Difference extends Releases {
  /** A sentence that says what servers of these releases do. */
  readonly what: string
  /** The cause: the class, the issue, and what it means for a client. */
  readonly why: string
  /** Turns a line of other releases into the lines of these releases: none, one or several. */
  readonly line?: LineChange
  /** The reverse, if `line` cannot be given: turns a line of these releases into the lines of the others. */
  readonly theirs?: LineChange
}

/** `phase` is the whole phase, for changes that depend on neighbouring lines. */
type LineChange = (line: string, index: number, phase: readonly string[]) => string | readonly string[]

export interface Compared {
  /** The transcript of the real servers. */
  readonly real: readonly string[]
  /** The transcript that was expected: that of the ensemble in this process, changed by the differences. */
  readonly expected: readonly string[]
  /** The differences that have occurred. */
  readonly seen: readonly Difference[]
}

/** Makes a transcript of real servers of this release comparable with a transcript of the ensemble in this process. */
export function compare(
  transcripts: { readonly real: readonly string[]; readonly inProcess: readonly string[] },
  version: string,
  differences: readonly Difference[],
): Compared {
  const seen: Difference[] = []
  let { real, inProcess: expected } = transcripts
  for (const difference of differences.filter((each) => concerns(each, version))) {
    const nextExpected = change(expected, difference.line)
    const nextReal = change(real, difference.theirs)
    if (isOther(nextExpected, expected) || isOther(nextReal, real)) seen.push(difference)
    expected = nextExpected
    real = nextReal
  }
  return { real, expected, seen }
}

function change(transcript: readonly string[], line: LineChange = (each) => each): readonly string[] {
  return transcript.map((phase) => phase.split('\n').flatMap(line).join('\n'))
}

function isOther(one: readonly string[], other: readonly string[]): boolean {
  return one.some((phase, index) => phase !== other[index])
}

export function concerns({ before, since }: Releases, version: string): boolean {
  if (before !== undefined && !isBefore(version, before)) return false
  return since === undefined || hasReached(version, since)
}
