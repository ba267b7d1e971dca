import type { Arguments, Option } from './options.ts'

export interface Command {
  /** What follows the name of the command. */
  readonly usage: string
  readonly options: readonly Option[]
  /** Printed after the options. */
  readonly notes: string
  /** `program` is what follows `--`. Resolves with the exit code. */
  run(args: Arguments, program: readonly string[]): Promise<number>
}
