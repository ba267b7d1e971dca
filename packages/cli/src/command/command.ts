import type { Arguments, Option } from './options.ts'

export interface Command {
  /** What follows the name of the command. */
  readonly usage: string
  readonly options: readonly Option[]
  /** Printed after the options. */
  readonly notes: string
  /** Whether it connects to no server: of the options that all commands have it has only --help. */
  readonly isLocal?: true
  /** Whether all that follows its name are its words, also options: another program reads them. */
  readonly takesAllWords?: true
  /** `program` is what follows `--`. Resolves with the exit code. */
  run(args: Arguments, program: readonly string[]): Promise<number>
}
