/** The levels, from the least to the most serious. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** Takes one line of the log. */
export type LogFunction = (level: LogLevel, message: string, fields: Readonly<Record<string, unknown>>) => void

/** An object with a method for each level, as pino, winston and `console` are. */
export type LogMethods = {
  readonly [level in LogLevel]: (message: string, fields: Readonly<Record<string, unknown>>) => unknown
}

/**
 * The logger of the client and the recipes, called for each line: a function, or an object with a method for each level. `fields`
 * are plain data that can be written as JSON, except `err`, an `Error`. In JSON `err` is its message, unless it has a `toJSON` of
 * its own. Control characters in text, such as in the path of a node, are escaped. Errors that the logger throws are ignored.
 *
 * An object with a method `bindings` is a logger of pino, whose methods take the fields before the message.
 *
 * - `debug`: attempts to connect, requests that a busy server did not execute, places in a queue
 * - `info`: sessions established and closed, reconnections, locks acquired and released
 * - `warn`: a connection lost, no server found, a close that no server has confirmed, a lock suspended, an anomaly, a timer
 *   that was called late, a wall clock that jumped, a session timeout far above the requested one or below the former one
 * - `error`: a session or a lock lost, or credentials refused
 */
export type Logger = LogFunction | LogMethods

const levels = ['debug', 'info', 'warn', 'error'] as const satisfies readonly LogLevel[]

type PinoMethods = { readonly [level in LogLevel]: (fields: object, message: string) => void }

/** The function that logs one line. Rejections of an async logger are ignored, like errors that a logger throws. */
export function logFunctionOf(logger: Logger): LogFunction {
  const log = lineOf(logger)
  return (level, message, fields) => {
    const result: unknown = log(level, message, fields)
    if (typeof result === 'object' && result !== null && 'then' in result) Promise.resolve(result).catch(() => {})
  }
}

function lineOf(logger: Logger): (...line: Parameters<LogFunction>) => unknown {
  if (typeof logger === 'function') return logger
  if ('bindings' in logger) {
    const pino = logger as unknown as PinoMethods
    return (level, message, fields) => pino[level](fields, message)
  }
  return (level, message, fields) => logger[level](message, fields)
}

export function checkLogger(logger: LogFunction | Partial<LogMethods> | null): void {
  if (typeof logger === 'function') return
  if (typeof logger === 'object' && levels.every((level) => typeof logger?.[level] === 'function')) return
  throw new TypeError(
    'logger must be an object with the methods debug, info, warn and error, such as console, or one of pino or winston; ' +
      'or a function (level, message, fields) => void',
  )
}
