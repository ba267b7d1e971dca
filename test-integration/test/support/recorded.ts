// Transcripts of real servers, as files: one for each group of scenarios.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The releases whose transcripts are recorded: the newest of each line, and Debian's 3.8.0. */
export const RECORDED = ['3.5', '3.6', '3.7', 'debian', '3.8', '3.9'] as const

export type RecordedRelease = (typeof RECORDED)[number]

/** Before the title of each scenario. No line of a transcript begins like this. */
const TITLE = '## '
const PHASE = '---'
/** Before a line that only some releases have: `{3.5 3.6} `. */
const ONLY = /^\{([^{}]*)\} /
/** The end of a session, and then of its connection. */
const CLOSED = /^((\w+): closeSession -> Ok z\d+)\n\2: (closed by the server)$/gm

const INTRODUCTION = `What real servers answered in these scenarios: do not edit. UPDATE_TRANSCRIPTS=1 records it again, for one release.
The releases that have a line are before it, if not all have it.
`

interface Line {
  readonly text: string
  readonly of: readonly RecordedRelease[]
}

/** The transcripts of a group, by the titles of their scenarios. */
export class Recorded {
  readonly #file: string
  readonly #transcripts: Map<string, readonly Line[]>

  constructor(subject: string) {
    const name = subject.toLowerCase().replaceAll(' ', '-')
    this.#file = fileURLToPath(new URL(`../scenarios/transcripts/${name}.txt`, import.meta.url))
    const text = existsSync(this.#file) ? readFileSync(this.#file, 'utf8') : ''
    const [, ...scenarios] = `\n${text}`.split(`\n${TITLE}`)
    this.#transcripts = new Map(
      scenarios.map((scenario) => {
        const end = scenario.indexOf('\n')
        return [scenario.slice(0, end), scenario.slice(end).trim().split('\n').map(parse)]
      }),
    )
  }

  get titles(): readonly string[] {
    return [...this.#transcripts.keys()]
  }

  /** As `shorten` shows it; empty if it was never recorded. */
  of(title: string, release: RecordedRelease): string {
    const lines = this.#transcripts.get(title) ?? []
    return lines.flatMap(({ text, of }) => (of.includes(release) ? [text] : [])).join('\n')
  }

  record(title: string, release: RecordedRelease, transcript: readonly string[]): void {
    const others = (this.#transcripts.get(title) ?? []).map(({ text, of }) => ({
      text,
      of: of.filter((each) => each !== release),
    }))
    this.#transcripts.set(
      title,
      merge(
        others.filter(({ of }) => of.length > 0),
        shorten(transcript).split('\n'),
        release,
      ),
    )
  }

  /** Writes the file: the scenarios with these titles, in this order. */
  write(titles: readonly string[]): void {
    const scenarios = titles.map(
      (title) => `${TITLE}${title}\n\n${(this.#transcripts.get(title) ?? []).map(format).join('\n')}\n`,
    )
    mkdirSync(dirname(this.#file), { recursive: true })
    writeFileSync(this.#file, [INTRODUCTION, ...scenarios].join('\n'))
  }
}

function parse(line: string): Line {
  const [beginning = '', releases] = ONLY.exec(line) ?? []
  const of = releases?.split(' ') as RecordedRelease[] | undefined
  return { text: line.slice(beginning.length), of: of ?? RECORDED }
}

function format({ text, of }: Line): string {
  return of.length === RECORDED.length ? text : `{${of.join(' ')}} ${text}`
}

/** Adds the transcript of one release to those of others. As many lines as possible become common. */
function merge(lines: readonly Line[], added: readonly string[], release: RecordedRelease): readonly Line[] {
  // The number of common lines from here on.
  const common = Array.from({ length: lines.length + 1 }, () => new Uint16Array(added.length + 1))
  for (let i = lines.length - 1; i >= 0; i--) {
    for (let j = added.length - 1; j >= 0; j--) {
      const isSame = lines[i]!.text === added[j]
      common[i]![j] = isSame ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!)
    }
  }
  const merged: Line[] = []
  let [i, j] = [0, 0]
  while (i < lines.length || j < added.length) {
    const [line, text] = [lines[i], added[j]]
    if (line !== undefined && line.text === text) {
      const of = new Set([...line.of, release])
      merged.push({ text, of: RECORDED.filter((each) => of.has(each)) })
      i++
      j++
    } else if (line !== undefined && (text === undefined || common[i + 1]![j]! >= common[i]![j + 1]!)) {
      merged.push(line)
      i++
    } else {
      merged.push({ text: text!, of: [release] })
      j++
    }
  }
  return merged
}

/** One text for a transcript. A line that is repeated is shown once, with the number of times; a session ends in one line. */
export function shorten(transcript: readonly string[]): string {
  const shown: { readonly line: string; times: number }[] = []
  const lines = transcript.join(`\n${PHASE}\n`).trim().replaceAll(CLOSED, '$1, $3')
  for (const line of lines.split('\n')) {
    const last = shown.at(-1)
    if (last?.line === line) last.times++
    else shown.push({ line, times: 1 })
  }
  return shown.map(({ line, times }) => (times === 1 ? line : `${line} (${times} times)`)).join('\n')
}
