import { createInterface } from 'node:readline'

/** Asks on standard error. False for any answer but yes, also if standard input ends, Ctrl-C is pressed, or the signal aborts. */
export function confirm(question: string, signal: AbortSignal): Promise<boolean> {
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  const close = (): void => asking.close()
  signal.addEventListener('abort', close)
  return new Promise((resolve) => {
    asking.once('close', () => {
      signal.removeEventListener('abort', close)
      resolve(false)
    })
    asking.question(`${question} [y/N] `, (answer) => {
      resolve(/^y(es)?$/i.test(answer.trim()))
      asking.close()
    })
  })
}
