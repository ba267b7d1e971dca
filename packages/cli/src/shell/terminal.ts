// Reads lines from a terminal. Each line has a reader of its own: while a command runs, the terminal is the command's.
import { type AsyncCompleter, createInterface, type Interface } from 'node:readline'

export class Terminal {
  readonly #complete: (line: string) => Promise<[candidates: string[], replaced: string]>
  #reader: Interface | undefined
  /** Lines that were pasted together with one before. */
  readonly #queue: string[] = []
  /** What was typed after the last of them. */
  #rest = ''

  constructor(complete: (line: string) => Promise<[candidates: string[], replaced: string]>) {
    this.#complete = complete
  }

  /** Resolves with undefined at Ctrl-D, and with an empty line at Ctrl-C. */
  async line(prompt: string, history: readonly string[]): Promise<string | undefined> {
    const queued = this.#queue.shift()
    if (queued !== undefined) {
      process.stderr.write(`${prompt}${queued}\n`)
      return queued
    }
    const completer: AsyncCompleter = (line, callback) =>
      void this.#complete(line).then((found) => callback(null, found))
    const reader = createInterface({
      input: process.stdin,
      output: process.stderr,
      terminal: true,
      history: [...history],
      historySize: 1_000,
      prompt,
      completer,
    })
    this.#reader = reader
    const closed = new Promise<void>((resolve) => void reader.once('close', resolve))
    let isInterrupted = false
    reader.on('line', (line) => {
      this.#queue.push(line)
      // Lines of the same paste come in this turn.
      setImmediate(() => reader.close())
    })
    reader.once('SIGINT', () => {
      isInterrupted = true
      // Also what was typed just before, and has not begun.
      this.#queue.length = 0
      process.stderr.write('^C')
      reader.close()
    })
    // The reader pauses after Ctrl-Z.
    reader.on('SIGCONT', () => reader.prompt(true))
    reader.prompt()
    if (this.#rest !== '') reader.write(this.#rest)
    await closed
    this.#reader = undefined
    const line = this.#queue.shift()
    this.#rest = line === undefined ? '' : reader.line
    if (line !== undefined) return line
    process.stderr.write('\n')
    return isInterrupted ? '' : undefined
  }

  /** Calls `write` while no line is shown, and then shows it again, after the new prompt. */
  interject(prompt: string, write: () => void): void {
    if (this.#reader !== undefined) process.stderr.write('\r\x1b[J')
    write()
    this.#reader?.setPrompt(prompt)
    this.#reader?.prompt(true)
  }
}
