// Compares two transcripts, line by line. A difference is named by its kind, so that one that comes again is known.

export interface LineDifference {
  /** What differs, without names and numbers of this place: `getData: data '' → null`. Equal kinds are one difference. */
  readonly kind: string
  /** The index of the phase in which it shows. */
  readonly phase: number
  /** undefined if the line is missing or not expected. */
  readonly expected: string | undefined
  readonly actual: string | undefined
}

/** What is known about the servers. */
export interface CompareOptions {
  /** Whether there were no other clients: then the ranks of all zxids must be equal, too. @default false */
  readonly isAlone?: boolean | undefined
}

/** Everything that differs, in order. Both transcripts are texts of phases, as `playOn` returns them. */
export function compareTranscripts(
  expected: readonly string[],
  actual: readonly string[],
  { isAlone = false }: CompareOptions = {},
): readonly LineDifference[] {
  const zxids = isAlone ? undefined : new Zxids()
  const differences: LineDifference[] = []
  for (let phase = 0; phase < Math.max(expected.length, actual.length); phase++) {
    for (const [one, other] of aligned(linesOf(expected[phase]), linesOf(actual[phase]))) {
      const kind = kindOf(one, other, zxids)
      if (kind !== undefined) differences.push({ kind, phase, expected: one, actual: other })
    }
  }
  return differences
}

function linesOf(phase = ''): readonly string[] {
  return phase === '' ? [] : phase.split('\n')
}

type Pair = readonly [expected: string | undefined, actual: string | undefined]

/** Pairs the lines with the same question: the longest such sequence. Others stand alone. */
function aligned(expected: readonly string[], actual: readonly string[]): readonly Pair[] {
  const [wanted, got] = [expected.map(question), actual.map(question)]
  const pairs: Pair[] = []
  // Most lines pair at once. The table below grows with the square of the lines that are left.
  let i = 0
  for (; i < wanted.length && wanted[i] === got[i]; i++) pairs.push([expected[i], actual[i]])
  let j = i
  const lengths = commonLengths(wanted, got, i)
  while (i < wanted.length && j < got.length) {
    if (wanted[i] === got[j]) pairs.push([expected[i++], actual[j++]])
    else if (lengths(i + 1, j) >= lengths(i, j + 1)) pairs.push([expected[i++], undefined])
    else pairs.push([undefined, actual[j++]])
  }
  for (; i < expected.length; i++) pairs.push([expected[i], undefined])
  for (; j < actual.length; j++) pairs.push([undefined, actual[j]])
  return pairs
}

/** For each pair of positions from `start` on: the length of the longest common sequence of questions from there. */
function commonLengths(
  wanted: readonly string[],
  got: readonly string[],
  start: number,
): (i: number, j: number) => number {
  const width = got.length - start + 1
  const lengths = new Uint32Array((wanted.length - start + 1) * width)
  const at = (i: number, j: number): number => (i - start) * width + (j - start)
  for (let i = wanted.length - 1; i >= start; i--) {
    for (let j = got.length - 1; j >= start; j--) {
      lengths[at(i, j)] =
        wanted[i] === got[j] ? 1 + lengths[at(i + 1, j + 1)]! : Math.max(lengths[at(i + 1, j)]!, lengths[at(i, j + 1)]!)
    }
  }
  return (i, j) => lengths[at(i, j)]!
}

const ANSWER = ' -> '

/** What a line is about: the request, or the connection and the kind of message. */
function question(line: string): string {
  const end = line.lastIndexOf(ANSWER)
  return end === -1 ? line.split(' ', 2).join(' ') : line.slice(0, end).replaceAll(/\bz\d+\b/g, 'z')
}

/** undefined if the lines say the same. */
function kindOf(
  expected: string | undefined,
  actual: string | undefined,
  zxids: Zxids | undefined,
): string | undefined {
  if (expected === undefined || actual === undefined) {
    const line = (expected ?? actual)!
    return `${subject(line)}: ${expected === undefined ? 'not expected' : 'missing'}${detail(line)}`
  }
  const [wanted, got] = [tokens(expected), tokens(actual)]
  if (wanted.length === got.length) {
    const changes = wanted.flatMap((token, index) =>
      token === got[index]! ? [] : [{ field: fieldAt(wanted, index), from: token, to: got[index]! }],
    )
    const real = changes.filter(({ from, to }) => zxids?.match(from, to) !== true)
    for (const token of wanted) if (!changes.some(({ from }) => from === token)) zxids?.match(token, token)
    if (real.length === 0) return undefined
    return `${subject(expected)}: ${real.map(({ field, from, to }) => `${field}${general(from)} → ${general(to)}`).join(', ')}`
  }
  return `${subject(expected)}: ${outcome(expected)} → ${outcome(actual)}`
}

/** The operation or kind of message, without the connection. */
function subject(line: string): string {
  return line.split(' ', 3)[1] ?? line
}

/** For a line that stands alone: the kind of an event, or the answer. */
function detail(line: string): string {
  const [, what, kind] = line.split(' ', 3)
  if (what === 'event') return ` ${kind}`
  return line.includes(ANSWER) ? ` ${outcome(line)}` : ''
}

/** The error, or what comes first in an answer. */
function outcome(line: string): string {
  return tokens(line.slice(line.lastIndexOf(ANSWER) + ANSWER.length))[0] ?? ''
}

/** Words, quoted texts and punctuation. */
function tokens(line: string): readonly string[] {
  return line.match(/'[^']*'|"[^"]*"|[{}[\],]|[^\s{}[\],]+/g) ?? []
}

/** The name before a value: `data: ` or `version `. */
function fieldAt(line: readonly string[], index: number): string {
  const before = line[index - 1]
  return before !== undefined && /^[a-z]\w*:?$/.test(before) && index > 1 ? `${before.replace(':', '')} ` : ''
}

/** Paths, texts and zxids say where, not what. */
function general(token: string): string {
  if (/^z\d+$/.test(token)) return 'zxid'
  if (/^".*"$/.test(token)) return token === '""' ? token : '"…"'
  if (/^'.*'$/.test(token)) return token === "''" ? token : "'…'"
  return token.startsWith('0x') ? '0x…' : token
}

/**
 * Which zxids of one transcript can be which of the other. Other clients may have changed something in between, so a reply to a
 * read can have a later zxid than expected, and all later ones have higher ranks. What must agree is the order.
 */
class Zxids {
  /** By expected zxid: the lowest and the highest actual one. */
  readonly #actual = new Map<number, readonly [lowest: number, highest: number]>()

  /** Whether both can be the same moment, given everything seen before. */
  match(expected: string, actual: string): boolean {
    // Of a transaction that nothing else has shown.
    if (actual === 'z?' && expected.startsWith('z')) return true
    if (!/^z\d+$/.test(expected) || !/^z\d+$/.test(actual)) return false
    const [wanted, got] = [Number(expected.slice(1)), Number(actual.slice(1))]
    for (const [other, [lowest, highest]] of this.#actual) {
      if (other < wanted ? highest >= got : other > wanted && lowest <= got) return false
    }
    const [lowest, highest] = this.#actual.get(wanted) ?? [got, got]
    this.#actual.set(wanted, [Math.min(lowest, got), Math.max(highest, got)])
    return true
  }
}
