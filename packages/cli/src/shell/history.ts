// The lines that were typed into the shell, in a file.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { folderOf, makeFolder } from '../command/profiles.ts'

const MOST = 1_000

export class History {
  readonly #file: string
  /** The newest first. */
  readonly #lines: string[]

  /** Without a file that can be read the history is empty. */
  constructor(environment: Readonly<Record<string, string | undefined>>) {
    this.#file = join(folderOf(environment, 'XDG_STATE_HOME', '.local/state'), 'zk', 'history')
    const lines = linesOf(this.#file)
    this.#lines = lines.slice(-MOST).reverse()
    if (lines.length > 2 * MOST) this.#write(() => writeFileSync(this.#file, `${lines.slice(-MOST).join('\n')}\n`))
  }

  get lines(): readonly string[] {
    return this.#lines
  }

  /** A line that begins with a space is not kept. Returns why the file cannot be written, if so. */
  add(line: string): string | undefined {
    if (/^\s|^$/.test(line) || line === this.#lines[0]) return undefined
    this.#lines.unshift(line)
    this.#lines.length = Math.min(this.#lines.length, MOST)
    return this.#write(() => {
      makeFolder(dirname(this.#file))
      appendFileSync(this.#file, `${line}\n`, { mode: 0o600 })
    })
  }

  #write(write: () => void): string | undefined {
    try {
      write()
      return undefined
    } catch (error) {
      return (error as Error).message
    }
  }
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1)
  } catch {
    return []
  }
}
