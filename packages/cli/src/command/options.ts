// Reads the options of a command from one table, of which its help is made, too.
import { parseArgs } from 'node:util'

/** Wrong usage. The message says what is wrong and what would be right. */
export class UsageError extends Error {
  override readonly name: string = 'UsageError'
}

/** A name that does not exist. `failure.ts` adds the nearest one to the message. */
export class UnknownNameError extends UsageError {
  override readonly name = 'UnknownNameError'
  readonly unknown: string
  readonly known: readonly string[]

  constructor(message: string, unknown: string, known: readonly string[]) {
    super(message)
    this.unknown = unknown
    this.known = known
  }
}

export interface Option {
  readonly name: string
  readonly short?: string
  /** The name of its value in the help. A flag has none. */
  readonly value?: string
  /** The only values that are right. */
  readonly choices?: readonly string[]
  /** Whether it may be given several times. */
  readonly isRepeatable?: true
  readonly help: string
}

type Values = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>

export class Arguments {
  readonly words: readonly string[]
  readonly #values: Values

  constructor(words: readonly string[], values: Values) {
    this.words = words
    this.#values = values
  }

  /** A copy with these options in place of its own. */
  with(values: Readonly<Record<string, string | undefined>>): Arguments {
    return new Arguments(this.words, { ...this.#values, ...values })
  }

  /** The same options with other words, and with these options if it has not given them itself. */
  withWords(words: readonly string[], defaults: Arguments): Arguments {
    return new Arguments(words, { ...defaults.#values, ...this.#values })
  }

  has(flag: string): boolean {
    return this.#values[flag] === true
  }

  text(option: string): string | undefined {
    const value = this.#values[option]
    return typeof value === 'string' ? value : undefined
  }

  /** All values of an option that may be given several times. */
  texts(option: string): readonly string[] {
    const value = this.#values[option]
    return value === undefined || typeof value === 'boolean' ? [] : [value].flat().map(String)
  }

  /** A time such as `30s`, `500ms`, `5m` or `2h`, or a number of seconds. In ms. */
  duration(option: string): number | undefined {
    const text = this.text(option)
    return text === undefined ? undefined : durationOf(`--${option}`, text)
  }

  wholeNumber(option: string, least: number): number | undefined {
    const text = this.text(option)
    if (text === undefined) return undefined
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < least || !Number.isSafeInteger(value)) {
      throw new UsageError(`--${option} must be a whole number of at least ${least}, not '${text}'`)
    }
    return value
  }
}

/** Of a command that has options only. Throws a UsageError. */
export function checkNoWords({ words }: Arguments, command: string): void {
  if (words.length > 0) throw new UsageError(`zk ${command} takes options only, not '${words.join(' ')}'`)
}

/** Throws a UsageError. */
export function readArguments(args: readonly string[], options: readonly Option[]): Arguments {
  const known = Object.fromEntries(
    options.map(({ name, short, value, isRepeatable = false }) => [
      name,
      {
        type: value === undefined ? 'boolean' : 'string',
        multiple: isRepeatable,
        ...(short === undefined ? {} : { short }),
      } as const,
    ]),
  )
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: known, allowPositionals: true })
    return new Arguments(positionals, values)
  } catch (error) {
    const [message = ''] = (error as Error).message.split(/\. |\n/)
    const [, unknown] = /^Unknown option '(-[^']*)'/.exec(message) ?? []
    if (unknown === undefined) throw new UsageError(message)
    const names = Object.keys(known).map((name) => `--${name}`)
    const hint = unknown.startsWith('--') ? '' : ' (words that begin with - go after --)'
    throw new UnknownNameError(`there is no option ${unknown}${hint}`, unknown, names)
  }
}

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** `source` is named in the message. Throws a UsageError. */
export function durationOf(source: string, text: string): number {
  const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? []
  if (number === undefined) {
    throw new UsageError(`${source} must be a time such as 30s, 500ms, 5m, 2h or 1d, not '${text}'`)
  }
  return Math.round(Number(number) * UNITS[unit as keyof typeof UNITS])
}
