import { printable } from '@zk/wire'
import { messageOf } from '../errors.ts'
import { systemRuntime } from '../runtime/system-runtime.ts'

/** The levels, from the least to the most serious. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/**
 * The logger of the client and the recipes: it is called for each line. `fields` are plain data that can be written as JSON,
 * except `err`, an `Error`: `JSON.stringify` shows little of it, but `jsonLogger` and the other loggers here print it. Control
 * characters in text, such as in the path of a node, are escaped. Errors that the logger throws are ignored.
 *
 * - `debug`: attempts to connect, requests that a busy server did not execute, places in a queue
 * - `info`: sessions established and closed, reconnections, locks acquired and released
 * - `warn`: a connection lost, no server found, a close that no server has confirmed, a lock suspended, an anomaly, a timer
 *   that was called late, a wall clock that jumped, a session timeout far above the requested one or below the former one
 * - `error`: a session or a lock lost, or credentials refused
 */
export type Logger = (level: LogLevel, message: string, fields: Readonly<Record<string, unknown>>) => void

/** The methods of a pino logger. */
export type PinoLike = { readonly [level in LogLevel]: (fields: object, message: string) => void }
/** The method of a winston logger. */
export interface WinstonLike {
  /** Writes one line. */
  log(level: string, message: string, fields: object): unknown
}
/** The methods of `console`. */
export type ConsoleLike = { readonly [level in LogLevel]: (message: string, fields: object) => void }

/** Logs with pino, or an object with its methods. pino's own serializer prints `err`. */
export function pinoLogger(pino: PinoLike): Logger {
  return (level, message, fields) => pino[level](fields, message)
}

/** Logs with winston. Its formats print no errors, so `err` becomes text: `error` and `stack`. */
export function winstonLogger(winston: WinstonLike): Logger {
  return (level, message, { err, ...fields }) => {
    const asText = err instanceof Error ? { error: messageOf(err), stack: err.stack } : { error: err }
    winston.log(level, message, err === undefined ? fields : { ...fields, ...asText })
  }
}

/** Logs with `console`, or an object with its methods. `least` is the least serious level that is printed. */
export function consoleLogger(console: ConsoleLike, least: LogLevel = 'info'): Logger {
  const printed = levels.slice(levels.indexOf(least))
  return (level, message, fields) => {
    if (printed.includes(level)) console[level](message, fields)
  }
}

/**
 * Logs each message as one line of JSON: `time` in ms since the epoch, `level`, `message` and the fields. An error is printed
 * with its name, message, code, stack and cause. Control characters are escaped, also those that JSON allows. `write` is called with the line: `jsonLogger((line) => console.log(line))`.
 */
export function jsonLogger(write: (line: string) => void): Logger {
  return (level, message, { err, ...fields }) => {
    const line = {
      time: systemRuntime.wallNow(),
      level,
      message,
      ...fields,
      ...(err !== undefined && { err: described(err) }),
    }
    write(printable(JSON.stringify(line)))
  }
}

/** How many causes are printed at most: an error may be its own cause. */
const MOST_CAUSES = 5

function described(error: unknown, causes = MOST_CAUSES): unknown {
  if (!(error instanceof Error)) return String(error)
  const { name, stack, cause } = error
  const code = 'code' in error ? error.code : undefined
  const isShown = cause !== undefined && causes > 0
  return { name, message: messageOf(error), code, stack, cause: isShown ? described(cause, causes - 1) : undefined }
}

const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

export const silentLogger: Logger = () => {}

export function checkLogger(logger: unknown): void {
  if (typeof logger === 'function') return
  throw new TypeError(
    'logger must be a function (level, message, fields) => void; ' +
      'pinoLogger(pino), winstonLogger(winston), consoleLogger(console) and jsonLogger(write) make one',
  )
}

/** Rounds numbers to tenths, because durations in ms are measured with a dozen digits. Escapes controls in text. */
function readable(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, shown(value)]))
}

function shown(value: unknown): unknown {
  if (typeof value === 'number') return tenths(value)
  if (typeof value === 'string') return printable(value)
  return Array.isArray(value) ? value.map(shown) : value
}

const tenths = (value: number) => Math.round(value * 10) / 10

/** Logs one line. Errors that the logger throws are ignored. */
export function log(
  logger: Logger,
  level: LogLevel,
  message: string,
  fields: () => Readonly<Record<string, unknown>>,
): void {
  if (logger === silentLogger) return
  try {
    logger(level, printable(message), readable(fields()))
  } catch {}
}
