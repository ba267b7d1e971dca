// What servers of one release tell otherwise than those that @zk/testing is modelled on, Debian's 3.8.0.
import { hasReached, isBefore } from './version.ts'

export interface Difference {
  /** A sentence: what servers of these releases do. */
  readonly what: string
  /** How it comes to that: the class, the issue, and what it means for a client. */
  readonly why: string
  /** Releases before this one do so: `3.6`, `3.8.4`. @default all */
  readonly before?: string
  /** These releases and later ones of their lines do so, and all lines behind the last. @default all */
  readonly since?: readonly string[]
  /** How they tell a line of the others: none, one or several. */
  readonly line?: LineChange
  /** The other way round, where only they know what they tell: what the others tell instead of a line of theirs. */
  readonly theirs?: LineChange
}

/** Is given the whole phase too, for what depends on the lines around. */
type LineChange = (line: string, index: number, phase: readonly string[]) => string | readonly string[]

export interface Compared {
  /** What the real servers told. */
  readonly real: readonly string[]
  /** What they should have told, as the ensemble in this process and the differences have it. */
  readonly expected: readonly string[]
  /** The differences that showed. */
  readonly seen: readonly Difference[]
}

/** Makes transcripts of real servers of that release and of the ensemble in this process comparable. */
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
