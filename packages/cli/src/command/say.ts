import { writeSync } from 'node:fs'

/** Words are for standard error: standard output is for data, and belongs to the command that runs. */
export function say(text: string): void {
  try {
    // Not `process.stderr`: it makes a pipe that the command inherits non-blocking, and the command would not expect that.
    writeSync(2, `zk: ${text}\n`)
  } catch {
    // Nobody reads it any more.
  }
}
