// Finds the command, runs it, and gives every error its exit code and one line of text.
import { ConnectError, isTransient, KeeperError, ZkError } from '@zk/client'
import { nearestOf } from '@zk/client/internal'
import { ELECT } from '../lock/elect.ts'
import { guard } from '../lock/guardian.ts'
import { LOCK } from '../lock/lock.ts'
import { LOCKS } from '../lock/locks.ts'
import { FIND, GET, LS, STAT } from '../nodes/read.ts'
import { CREATE, RM, SET } from '../nodes/write.ts'
import type { Command } from './command.ts'
import { COMMON_OPTIONS } from './connection.ts'
import { EXIT } from './exit.ts'
import { readArguments, UsageError } from './options.ts'
import { OutputError, print, say } from './output.ts'

const COMMANDS: readonly Command[] = [LOCK, ELECT, LOCKS, GET, STAT, LS, FIND, SET, CREATE, RM]

/** Resolves with the exit code. */
export async function zk(args: readonly string[]): Promise<number> {
  const [name = '', ...rest] = args
  // Not in the help: `zk lock` starts it.
  if (name === 'guard') return guard()
  try {
    if (name === '') throw new UsageError('name a command: zk --help lists them')
    if (['help', '--help', '-h'].includes(name)) {
      print(overview())
      return EXIT.done
    }
    const command = COMMANDS.find((command) => command.name === name)
    if (command === undefined) throw new UsageError(unknownCommand(name))
    const end = rest.indexOf('--')
    const given = readArguments(end < 0 ? rest : rest.slice(0, end), [...command.options, ...COMMON_OPTIONS])
    if (given.has('help')) {
      print(helpOf(command))
      return EXIT.done
    }
    return await command.run(given, end < 0 ? [] : rest.slice(end + 1))
  } catch (error) {
    if (error instanceof OutputError && error.isReaderGone) return EXIT.done
    say(messageOf(error))
    return codeOf(error)
  }
}

function codeOf(error: unknown): number {
  if (error instanceof UsageError) return EXIT.usage
  if (error instanceof OutputError) return EXIT.output
  if (ConnectError.is(error)) return EXIT.unavailable
  if (KeeperError.is(error)) {
    if (error.outcomeUnknown) return EXIT.outcomeUnknown
    if (error.code === 'NoNode') return EXIT.noNode
    if (error.code === 'NoAuth' || error.code === 'AuthFailed') return EXIT.noPermission
    if (isTransient(error) || error.code === 'SessionExpired') return EXIT.unavailable
  }
  return EXIT.failed
}

function messageOf(error: unknown): string {
  if (error instanceof UsageError || error instanceof OutputError || ZkError.is(error)) return error.message
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function unknownCommand(name: string): string {
  const nearest = nearestOf(
    name,
    COMMANDS.map(({ name }) => name),
  )
  return `there is no command ${name}${nearest === undefined ? '' : `: did you mean ${nearest}?`} (zk --help lists them)`
}

function overview(): string {
  const width = Math.max(...COMMANDS.map(({ name }) => name.length))
  return [
    'The command line for ZooKeeper.\n',
    'Usage: zk COMMAND [options]\n',
    ...COMMANDS.map(({ name, summary }) => `  ${name.padEnd(width)}  ${summary}`),
    '\nzk COMMAND --help says more.\n',
  ].join('\n')
}

function helpOf({ name, summary, usage, options, notes }: Command): string {
  const rows = [...options, ...COMMON_OPTIONS].map(({ name, short, value, help }) => ({
    left: `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
    help,
  }))
  const lines = rows.map(({ left, help }) => `  ${left.padEnd(34)}  ${help}`)
  return `${summary}\n\nUsage: zk ${name} ${usage}\n\n${lines.join('\n')}\n\n${notes}`
}
