// A text on a terminal that is drawn again when it has changed.
import { isatty } from 'node:tty'
import { print } from '../command/output.ts'

const CLEAR = '\u001b[H\u001b[2J'
/** Long lines are cut by the terminal while this is off. */
const WRAP_OFF = '\u001b[?7l'
const WRAP_ON = '\u001b[?7h'

const USUAL_ROWS = 24

export class LiveTable {
  #lines = 0
  #text = ''
  readonly #resized = (): void => {
    // Lines may have been broken: their number is not known.
    print(CLEAR)
    this.#lines = 0
    this.draw(this.#text)
  }

  /** Whether standard output is a terminal on which a text can be drawn again. */
  static get isPossible(): boolean {
    return isatty(1) && process.env['TERM'] !== 'dumb'
  }

  constructor() {
    process.on('SIGWINCH', this.#resized)
  }

  draw(text: string): void {
    this.#text = text
    const all = text.replace(/\n$/, '').split('\n')
    // A pseudo-terminal may not know its size.
    const rows = process.stdout.getWindowSize()[1] || USUAL_ROWS
    const lines = fitting(all, Math.max(3, rows - 1))
    const up = this.#lines === 0 ? '' : `\u001b[${this.#lines}A`
    print(`${WRAP_OFF}${up}\r\u001b[J${lines.map((line) => `${line}\n`).join('')}${WRAP_ON}`)
    this.#lines = lines.length
  }

  dispose(): void {
    process.off('SIGWINCH', this.#resized)
  }
}

/** The last line is the status, and always fits. */
function fitting(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most) return lines
  return [...lines.slice(0, most - 2), `… ${lines.length - most + 1} more lines`, lines.at(-1)!]
}
