import { createInterface } from 'node:readline/promises'
import { isatty } from 'node:tty'
import { type Arguments, type Option, UsageError } from '../command/options.ts'

export const YES: Option = { name: 'yes', short: 'y', help: 'do not ask' }

/** Asks, unless --yes is given. Throws a UsageError where nobody can be asked. */
export async function confirm(args: Arguments, question: string): Promise<boolean> {
  if (args.has('yes')) return true
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^y(es)?$/i.test(await terminal.question(`${question} [y/N] `))
  } finally {
    terminal.close()
  }
}

/** Before anything is sent. Throws a UsageError. */
export function checkConfirmable(args: Arguments, command: string): void {
  if (!args.has('yes') && !isatty(0)) throw new UsageError(`${command} needs --yes where nobody can be asked`)
}
