// Transcripts of Debian's servers, as files: one for each group of scenarios.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Before the title of each scenario. No line of a transcript begins like this. */
const TITLE = '## '
const PHASE = '---'
/** The end of a session, and then of its connection. */
const CLOSED = /^((\w+): closeSession -> Ok z\d+)\n\2: (closed by the server)$/gm

const INTRODUCTION = `What servers answered in these scenarios, recorded from Debian's 3.8.0: do not edit.
UPDATE_TRANSCRIPTS=1 records it again.
`

/** The transcripts of a group, by the titles of their scenarios. */
export class Recorded {
  readonly #file: string
  readonly #transcripts: Map<string, string>

  constructor(subject: string) {
    const name = subject.toLowerCase().replaceAll(' ', '-')
    this.#file = fileURLToPath(new URL(`../scenarios/transcripts/${name}.txt`, import.meta.url))
    const text = existsSync(this.#file) ? readFileSync(this.#file, 'utf8') : ''
    const [, ...scenarios] = `\n${text}`.split(`\n${TITLE}`)
    this.#transcripts = new Map(
      scenarios.map((scenario) => {
        const end = scenario.indexOf('\n')
        return [scenario.slice(0, end), scenario.slice(end).trim()]
      }),
    )
  }

  get titles(): readonly string[] {
    return [...this.#transcripts.keys()]
  }

  /** As `shorten` shows it; undefined if it was never recorded. */
  of(title: string): string | undefined {
    return this.#transcripts.get(title)
  }

  record(title: string, transcript: readonly string[]): void {
    this.#transcripts.set(title, shorten(transcript))
  }

  /** Writes the file: the scenarios with these titles, in this order. */
  write(titles: readonly string[]): void {
    const scenarios = titles.map((title) => `${TITLE}${title}\n\n${this.of(title) ?? ''}\n`)
    mkdirSync(dirname(this.#file), { recursive: true })
    writeFileSync(this.#file, [INTRODUCTION, ...scenarios].join('\n'))
  }
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
