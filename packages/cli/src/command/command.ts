import { COMMON_OPTIONS } from './connection-options.ts'
import type { Arguments, Option } from './options.ts'

export interface Command {
  /** What follows the name of the command. */
  readonly usage: string
  readonly options: readonly Option[]
  /** Printed after the options. */
  readonly notes: string
  /** Whether it connects to no server: of the options that all commands have it has only --help. */
  readonly isLocal?: true
  /** Whether what follows `--` is a program. Otherwise it is words, also such that begin with `-`. */
  readonly runsProgram?: true
  /** Whether all that follows its name are its words, also options: another program reads them. */
  readonly takesAllWords?: true
  /** `program` is what follows `--`. Resolves with the exit code. */
  run(args: Arguments, program: readonly string[]): Promise<number>
}

/** A row of the table of commands. */
export interface Entry {
  readonly summary: string
  /** The code of a command is evaluated only when it is needed: a help of all commands is not. */
  load(): Promise<Command>
}

export type Commands = Readonly<Record<string, Entry>>

/** All options of a command. */
export function optionsOf({ options, isLocal }: Command): readonly Option[] {
  return [...options, ...(isLocal ? COMMON_OPTIONS.filter(({ name }) => name === 'help') : COMMON_OPTIONS)]
}
