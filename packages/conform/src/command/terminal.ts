// What the command needs of its process. Tests replace it.
export interface Terminal {
  /** Whether a person watches: then progress is shown. */
  readonly isInteractive: boolean
  readonly hasColors: boolean
  /** Standard output. */
  print(text: string): void
  /** Standard error: a line. */
  error(line: string): void
  /** Replaces the line of progress on standard error. Only if interactive. */
  status(line: string): void
  /** The time as an ISO date. */
  now(): string
  /** A signal that aborts at Ctrl-C, until `release` is called. */
  interrupted(): { readonly signal: AbortSignal; readonly release: () => void }
}

export const processTerminal: Terminal = {
  isInteractive: process.stderr.isTTY,
  hasColors: process.stdout.isTTY && (process.env['NO_COLOR'] ?? '') === '',
  print: (text) => void process.stdout.write(text),
  error: (line) => void process.stderr.write(`${line}\n`),
  status: (line) => void process.stderr.write(`\r\x1b[K${line}`),
  now: () => new Date().toISOString(),
  interrupted: () => {
    const controller = new AbortController()
    const abort = (): void => controller.abort()
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, abort)
    return {
      signal: controller.signal,
      release: () => {
        for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, abort)
      },
    }
  },
}
