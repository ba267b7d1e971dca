// Questions before something is destroyed.
import { createInterface } from 'node:readline'
import { isatty } from 'node:tty'
import { type Arguments, type Option, UsageError } from './options.ts'

export const YES: Option = { name: 'yes', short: 'y', help: 'do not ask' }

/** Before anything is sent. Throws a UsageError where nobody can be asked. */
export function checkConfirmable(args: Arguments, command: string): void {
  if (!args.has('yes') && !isatty(0)) throw new UsageError(`${command} needs --yes where nobody can be asked`)
}

/**
 * Asks on standard error, unless --yes is given. False for any answer but yes, also if standard input ends, Ctrl-C is pressed, or the
 * signal aborts.
 */
export async function confirm(args: Arguments, question: string, signal?: AbortSignal): Promise<boolean> {
  if (args.has('yes')) return true
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  const close = (): void => asking.close()
  signal?.addEventListener('abort', close)
  return new Promise((resolve) => {
    asking.once('close', () => {
      signal?.removeEventListener('abort', close)
      resolve(false)
    })
    asking.question(`${question} [y/N] `, (answer) => {
      resolve(/^y(es)?$/i.test(answer.trim()))
      asking.close()
    })
  })
}
