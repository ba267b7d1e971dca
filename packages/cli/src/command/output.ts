// What zk itself writes. Not by `process.stdout` and `process.stderr`: they make a pipe that the command inherits non-blocking,
// and the command would not expect that.
import { writeSync } from 'node:fs'

/** Standard output cannot be written. */
export class OutputError extends Error {
  override readonly name = 'OutputError'
}

/** Data, on standard output. Throws an OutputError, unless the reader has just gone away. */
export function print(text: string): void {
  try {
    writeSync(1, text)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'EPIPE') throw new OutputError(`standard output cannot be written: ${message}`)
  }
}

/** Words, on standard error. */
export function say(text: string): void {
  try {
    writeSync(2, `zk: ${text}\n`)
  } catch {
    // Nobody reads it any more.
  }
}
