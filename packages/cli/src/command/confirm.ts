import { createInterface } from 'node:readline'

/** Asks on standard error. False for any answer but yes, also if standard input ends or Ctrl-C is pressed. */
export function confirm(question: string): Promise<boolean> {
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  return new Promise((resolve) => {
    asking.once('close', () => resolve(false))
    asking.question(`${question} [y/N] `, (answer) => {
      resolve(/^y(es)?$/i.test(answer.trim()))
      asking.close()
    })
  })
}
