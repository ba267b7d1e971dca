// What servers of one release do differently from those that @zk/testing is modelled on, Debian's 3.8.0.
import { hasReached, isBefore } from './version.ts'

export interface Difference {
  /** A sentence: what servers of these releases do. */
  readonly what: string
  /** The cause: the class, the issue, and what it means for a client. */
  readonly why: string
  /** Releases before this one do so: `3.6`, `3.8.4`. @default all */
  readonly before?: string
  /** These releases, later ones of their lines, and all later lines do so. @default all */
  readonly since?: readonly string[]
  /** Changes a line of the other releases into those of these releases: none, one or several. */
  readonly line?: LineChange
  /** The reverse, where that cannot be derived: changes a line of these releases into those of the others. */
  readonly theirs?: LineChange
}

/** Receives the whole phase too, for changes that depend on the lines around. */
type LineChange = (line: string, index: number, phase: readonly string[]) => string | readonly string[]

export interface Compared {
  /** The transcript of the real servers. */
  readonly real: readonly string[]
  /** The transcript it should have been, according to the ensemble in this process and the differences. */
  readonly expected: readonly string[]
  /** The differences that occurred. */
  readonly seen: readonly Difference[]
}

/** Makes a transcript of real servers of that release comparable with one of the ensemble in this process. */
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

function concerns({ before, since }: Difference, version: string): boolean {
  if (before !== undefined && !isBefore(version, before)) return false
  return since === undefined || hasReached(version, since)
}
