// Everything of a client that a person may see: log lines, in the forms of several loggers, and messages of diagnostics channels.
import diagnostics from 'node:diagnostics_channel'
import { Console } from 'node:console'
import { Writable } from 'node:stream'
import { inspect } from 'node:util'
import type { LogFunction } from '../../src/index.ts'
import { logFunctionOf } from '../../src/telemetry/logger.ts'

const CHANNELS = [
  ...['anomaly', 'connection', 'session', 'watch', 'frame'].map((name) => `zk:${name}`),
  ...['start', 'end', 'asyncStart', 'asyncEnd', 'error'].map((name) => `tracing:zk:request:${name}`),
]

export class Seen implements Disposable {
  /** Log lines as a terminal or a file would get them. */
  readonly lines: string[] = []
  /** The arguments of `logger`, and the messages of channels. */
  readonly values: unknown[] = []
  readonly logger: LogFunction
  readonly #note = (message: unknown) => void this.values.push(message)

  constructor() {
    const print = (text: string) => void this.lines.push(text)
    const stream = new Writable({ write: (chunk, _, done) => (print(String(chunk).replace(/\n$/, '')), done()) })
    const level = (message: string, fields: object) => void this.values.push([message, fields])
    const loggers = [
      logFunctionOf(new Console(stream)),
      logFunctionOf({ debug: level, info: level, warn: level, error: level }),
      ((name, message, fields) => {
        print(`${name} ${message}`)
        print(JSON.stringify({ level: name, message, ...fields }))
        this.values.push({ name, message, fields })
      }) satisfies LogFunction,
    ]
    this.logger = (...line) => loggers.forEach((log) => log(...line))
    for (const name of CHANNELS) diagnostics.subscribe(name, this.#note)
  }

  [Symbol.dispose](): void {
    for (const name of CHANNELS) diagnostics.unsubscribe(name, this.#note)
  }
}

/** All texts that an object has for people: as JSON, as a string, and as `inspect` shows it. */
export function textsOf(value: unknown): string[] {
  const shown = inspect(value, { depth: Infinity, showHidden: true, maxArrayLength: null, maxStringLength: null })
  const json = JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each)) ?? ''
  return [shown, json, String(value)]
}

/** The messages and stacks of an error, of its causes, and of the errors in its fields. */
export function errorTexts(error: unknown, depth = 5): string[] {
  if (!(error instanceof Error) || depth === 0) return []
  const parts: unknown[] = Object.values(error)
  const within = parts.flatMap((part) =>
    Array.isArray(part) ? part.map((each: { error?: unknown }) => each?.error) : part,
  )
  return [error.message, error.stack ?? '', ...[error.cause, ...within].flatMap((each) => errorTexts(each, depth - 1))]
}
