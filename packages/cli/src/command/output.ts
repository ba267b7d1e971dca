// What zk itself writes. Not by `process.stdout` and `process.stderr`: they make a pipe that the command inherits non-blocking,
// and the command would not expect that.
import { writeSync } from 'node:fs'

/** Standard output cannot be written. */
export class OutputError extends Error {
  override readonly name = 'OutputError'
  /** Whether the reader has gone away, as `head` does: that is no failure. */
  readonly isReaderGone: boolean

  constructor({ code, message }: NodeJS.ErrnoException) {
    super(`standard output cannot be written: ${message}`)
    this.isReaderGone = code === 'EPIPE'
  }
}

/** Data, on standard output. Throws an OutputError. */
export function print(data: string | Uint8Array): void {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data
  try {
    for (let written = 0; written < bytes.length;) written += writeSync(1, bytes, written)
  } catch (error) {
    throw new OutputError(error as NodeJS.ErrnoException)
  }
}

/** A document of `--json`, on a line of its own. */
export function printJson(document: Readonly<Record<string, unknown>>): void {
  print(`${JSON.stringify({ version: 1, ...document })}\n`)
}

/** Words, on standard error. */
export function say(text: string): void {
  try {
    writeSync(2, `zk: ${text}\n`)
  } catch {
    // Nobody reads it any more.
  }
}
