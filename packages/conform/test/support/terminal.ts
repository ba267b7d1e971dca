import type { Terminal } from '../../src/command/terminal.ts'

/** Keeps what is printed. `interrupt` is Ctrl-C. */
export class TestTerminal implements Terminal {
  readonly isInteractive = true
  readonly hasColors = false
  readonly #controller = new AbortController()
  output = ''
  errors = ''
  /** Called with each line of progress. */
  onStatus: (line: string) => void = () => {}

  print(text: string): void {
    this.output += text
  }

  error(line: string): void {
    this.errors += `${line}\n`
  }

  status(line: string): void {
    this.onStatus(line)
  }

  now(): string {
    return '2026-01-01T00:00:00.000Z'
  }

  interrupted(): ReturnType<Terminal['interrupted']> {
    return { signal: this.#controller.signal, release: () => {} }
  }

  interrupt(): void {
    this.#controller.abort()
  }
}
