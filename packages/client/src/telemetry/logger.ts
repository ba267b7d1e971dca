/** Where the client logs what happens: pino's shape, and that of the loggers like it. `bindings` are plain data, and `err`. */
export interface Logger {
  /** Attempts to connect, requests that a busy server did not execute. */
  debug(bindings: object, message: string): void
  /** Sessions established and closed, reconnections. */
  info(bindings: object, message: string): void
  /** A connection lost, and what the protocol does not foresee: survived. */
  warn(bindings: object, message: string): void
  /** A session lost, or no server found. */
  error(bindings: object, message: string): void
}

const levels = ['debug', 'info', 'warn', 'error'] as const satisfies (keyof Logger)[]

export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
}

export function checkLogger(logger: unknown): void {
  const missing = levels.filter((level) => typeof (logger as Partial<Logger> | null)?.[level] !== 'function')
  if (missing.length > 0) throw new TypeError(`logger must be a logger such as pino's; it has no ${missing.join(', ')}`)
}

/** A logger that throws stops nothing. */
export function log(logger: Logger, level: keyof Logger, message: string, bindings: () => object): void {
  if (logger === silentLogger) return
  try {
    logger[level](bindings(), message)
  } catch {}
}
