// One run of a command under a hold: from its start, if it may start, until nothing of it is left.
import { hostname } from 'node:os'
import { isatty } from 'node:tty'
import type { ZooKeeper } from '@zk/client'
import type { Held } from '@zk/recipes'
import { validatePath } from '@zk/wire'
import { type Arguments, type Option, UsageError } from '../command/options.ts'
import { say } from '../command/output.ts'
import { byTheLease, reserve, verdict } from './ending.ts'
import { GuardedCommand } from './guarded-command.ts'
import { type EndingOptions, LeaseWatch } from './lease-watch.ts'
import type { Signals } from './signals.ts'

/** The options of every command that runs a program while it holds something. */
export const RUN_OPTIONS: readonly Option[] = [
  { name: 'label', value: 'TEXT', help: 'shown to others as the holder (default: the host and the process id)' },
  {
    name: 'grace',
    value: 'TIME',
    help: 'from SIGTERM to SIGKILL; less, if the lease ends before (default: a third of what is left of it, at most 5s)',
  },
  {
    name: 'on-suspend',
    value: 'wait|term',
    help: 'when the connection is lost: wait for the lease to end, or end the command (default: wait)',
  },
]

export interface Run {
  readonly path: string
  readonly label: string
  readonly program: readonly string[]
  readonly ending: EndingOptions
}

/** Throws a UsageError. */
export function readRun(args: Arguments, program: readonly string[], usage: string): Run {
  if (process.platform === 'win32') throw new UsageError('process groups and signals are needed, which Windows lacks')
  const [path, ...more] = args.words
  if (path === undefined || program.length === 0) {
    throw new UsageError(`name the ${path === undefined ? 'path' : 'command after --'}: ${usage}`)
  }
  if (more.length > 0) throw new UsageError(`one path, and the command after --, not '${more.join(' ')}': ${usage}`)
  const onSuspend = args.text('on-suspend') ?? 'wait'
  if (onSuspend !== 'wait' && onSuspend !== 'term') {
    throw new UsageError(`--on-suspend is wait or term, not '${onSuspend}'`)
  }
  if (path === '/') throw new UsageError('the path must not be /: contenders need a parent node of their own')
  try {
    validatePath(path)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
  return {
    path,
    program,
    label: args.text('label') ?? `${hostname()}:${process.pid}`,
    ending: { grace: args.duration('grace'), endsWhenSuspended: onSuspend === 'term' },
  }
}

export type End =
  /** Its first process ended by itself, and nothing is left of it. */
  | { readonly name: 'ended'; readonly code: number }
  /** The hold was lost, or is about to be lost. Nothing is left of the command. */
  | { readonly name: 'lost' }
  /** A signal came before it started. */
  | { readonly name: 'notStarted' }

export async function runWhileHeld(
  zk: ZooKeeper,
  held: Held,
  { path, program, ending }: Run,
  signals: Signals,
): Promise<End> {
  const isForeground = isatty(0)
  const command = await GuardedCommand.start(
    {
      words: program,
      inForeground: isForeground,
      node: held.path,
      environment: {
        ZK_LOCK_TOKEN: String(held.fencingToken),
        ZK_LOCK_PATH: path,
        ZK_LOCK_NODE: held.path,
        ZK_SESSION_ID: `0x${held.session.id.toString(16)}`,
        ZK_LOCK_LEASE_UNTIL: new Date(Date.now() + held.leaseRemaining()).toISOString(),
      },
    },
    held.leaseRemaining(),
    (reserve(held.session.timeout) * 3) / 4,
    () =>
      signals.ending === undefined && verdict(held.leaseRemaining(), held.session.timeout, undefined).name === 'run',
  )
  if (command === undefined) {
    if (signals.ending !== undefined) return { name: 'notStarted' }
    say('the lease ended before the command could start')
    return { name: 'lost' }
  }
  signals.passTo(command, isForeground)
  const lease = new LeaseWatch(zk, held, command, ending)
  const end = await Promise.race([command.ended, lease.lost])
  lease.stop()
  signals.passTo(undefined, isForeground)
  if (typeof end === 'number') {
    const wasHeld = held.isHeld()
    // What the command has left behind must be gone before the next holder begins.
    await command.finish(lease.grace())
    if (wasHeld) return { name: 'ended', code: end }
    // zk was stopped, and the guardian has killed the command; or it ended by itself, too late.
    say(`the lease ended before the command, which has ended with ${end}`)
    return { name: 'lost' }
  }
  say(end.why)
  const left = await command.finish(end.grace)
  say(`nothing of the command is left${end.wasHeld ? `, ${byTheLease(left)}` : ''}`)
  return { name: 'lost' }
}
