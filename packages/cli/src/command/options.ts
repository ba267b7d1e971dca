// Reads the options of a command from one table, of which its help is made, too.
import { parseArgs } from 'node:util'
import { nearestOf } from '@zk/client/internal'

/** Wrong usage. The message says what is wrong and what would be right. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export interface Option {
  readonly name: string
  readonly short?: string
  /** The name of its value in the help. A flag has none. */
  readonly value?: string
  readonly help: string
}

export class Arguments {
  readonly words: readonly string[]
  readonly #values: Readonly<Record<string, string | boolean | undefined>>

  constructor(words: readonly string[], values: Readonly<Record<string, string | boolean | undefined>>) {
    this.words = words
    this.#values = values
  }

  has(flag: string): boolean {
    return this.#values[flag] === true
  }

  text(option: string): string | undefined {
    const value = this.#values[option]
    return typeof value === 'string' ? value : undefined
  }

  /** A time such as `30s`, `500ms`, `5m` or `2h`, or a number of seconds. In ms. */
  duration(option: string): number | undefined {
    const text = this.text(option)
    return text === undefined ? undefined : durationOf(option, text)
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

/** Throws a UsageError. */
export function readArguments(args: readonly string[], options: readonly Option[]): Arguments {
  const known = Object.fromEntries(
    options.map(({ name, short, value }) => [
      name,
      { type: value === undefined ? 'boolean' : 'string', ...(short === undefined ? {} : { short }) } as const,
    ]),
  )
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: known, allowPositionals: true })
    return new Arguments(positionals, values)
  } catch (error) {
    const [message = ''] = (error as Error).message.split('. ')
    const [, unknown] = /^Unknown option '--?([^']*)'/.exec(message) ?? []
    if (unknown === undefined) throw new UsageError(message)
    const nearest = nearestOf(unknown, Object.keys(known))
    throw new UsageError(
      `there is no option --${unknown}${nearest === undefined ? '' : `: did you mean --${nearest}?`}`,
    )
  }
}

const UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

function durationOf(option: string, text: string): number {
  const [, number, unit = 's'] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/.exec(text) ?? []
  if (number === undefined) {
    throw new UsageError(`--${option} must be a time such as 30s, 500ms, 5m or 2h, not '${text}'`)
  }
  return Math.round(Number(number) * UNITS[unit as keyof typeof UNITS])
}
