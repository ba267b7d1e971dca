// `zk lock`: runs a command while it holds the lock.
import { hostname } from 'node:os'
import { renameSync, writeFileSync } from 'node:fs'
import { isatty } from 'node:tty'
import type { ZooKeeper } from '@zk/client'
import {
  type Acquirable,
  type AcquireOptions,
  type Held,
  Lock,
  Semaphore,
  SharedLock,
  WaitTimeoutError,
} from '@zk/recipes'
import type { Command } from '../command/command.ts'
import { connectWith } from '../command/connection.ts'
import { EXIT, exitCodeOf } from '../command/exit.ts'
import { type Arguments, UsageError } from '../command/options.ts'
import { say } from '../command/say.ts'
import { verdict } from './ending.ts'
import { GuardedCommand } from './guarded-command.ts'
import { Connection, type EndingOptions, LeaseWatch } from './lease-watch.ts'
import { Signals } from './signals.ts'

export const LOCK: Command = {
  name: 'lock',
  summary: 'Runs a command while it holds a lock, and ends the command before another host can hold the lock.',
  usage: 'PATH [options] -- COMMAND [ARG…]',
  options: [
    { name: 'read', help: 'share the lock with other readers' },
    { name: 'write', help: 'hold the lock alone, also against readers' },
    { name: 'permits', value: 'N', help: 'a semaphore with N permits instead of a lock' },
    { name: 'count', value: 'M', help: 'take M permits at once (default: 1)' },
    { name: 'nonblock', short: 'n', help: 'fail at once if the lock is held' },
    { name: 'wait', short: 'w', value: 'TIME', help: 'how long to wait for the lock (default: for ever)' },
    {
      name: 'conflict-exit-code',
      short: 'E',
      value: 'CODE',
      help: 'the exit code if the lock was not acquired (default: 1)',
    },
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
    { name: 'token-file', value: 'FILE', help: 'write the fencing token to a file' },
  ],
  notes: `The command is not given to a shell. In its environment are ZK_LOCK_TOKEN (the fencing token, decimal), ZK_LOCK_PATH,
ZK_LOCK_NODE, ZK_SESSION_ID and ZK_LOCK_LEASE_UNTIL (an ISO date: how far the lease reached at the start).

If the lock is lost, or its lease is not renewed, the command and all processes that it has started get SIGTERM, and SIGKILL
before the lease ends. The same happens to processes that are left when the command has ended, before the lock is released.
If zk itself is killed or stopped, a second process kills the command.

Signals: HUP, INT, QUIT, TERM, USR1, USR2 and WINCH are passed to the command. With a terminal on standard input the command stays in the
foreground, and gets what the keyboard sends from the terminal itself. Without one it has a process group of its own.

Exit codes: that of the command (128 + n if signal n ended it), 1 not acquired, 64 wrong usage, 69 no server, 75 lost,
76 outcome unknown, 77 no permission.

Example:
  zk lock /locks/backup -n -c zk1:2181,zk2:2181 -- pg_dump --file=/backup/today.sql shop
`,
  run: lock,
}

async function lock(args: Arguments, program: readonly string[]): Promise<number> {
  if (process.platform === 'win32')
    throw new UsageError('zk lock needs process groups and signals, which Windows lacks')
  const [path, ...more] = args.words
  if (path === undefined) throw new UsageError('name the path of the lock: zk lock PATH -- COMMAND')
  if (more.length > 0)
    throw new UsageError(`only one path, and the command after --: zk lock ${path} -- ${more.join(' ')}`)
  if (program.length === 0) throw new UsageError(`name the command after --: zk lock ${path} -- COMMAND`)
  const onSuspend = args.text('on-suspend') ?? 'wait'
  if (onSuspend !== 'wait' && onSuspend !== 'term') {
    throw new UsageError(`--on-suspend is wait or term, not '${onSuspend}'`)
  }
  const conflict = args.wholeNumber('conflict-exit-code', 0) ?? EXIT.notAcquired
  if (conflict > 255) throw new UsageError(`--conflict-exit-code is at most 255, not ${conflict}`)
  const wait = args.duration('wait')
  if (args.has('nonblock') && wait !== undefined) throw new UsageError('-n and -w exclude each other')
  const grace = args.duration('grace')

  const signals = new Signals()
  try {
    const zk = await connectWith(args, process.env, signals.leave)
    try {
      const connection = new Connection()
      const held = await acquire(recipeOf(zk, path, args), args, {
        signal: signals.leave,
        onSuspended: connection.onSuspended,
        onResumed: connection.onResumed,
        ...(wait === undefined ? {} : { timeout: wait }),
      })
      if (held === undefined) return conflict
      const tokenFile = args.text('token-file')
      if (tokenFile !== undefined) writeWhole(tokenFile, `${held.fencingToken}\n`)
      return await runHeld(held, program, {
        path,
        signals,
        connection,
        ending: { grace, endsWhenSuspended: onSuspend === 'term' },
      })
    } finally {
      await zk.close()
    }
  } catch (error) {
    if (signals.ending !== undefined) return exitCodeOf(signals.ending)
    if (WaitTimeoutError.is(error)) {
      say(error.message)
      return conflict
    }
    throw error
  } finally {
    signals.dispose()
  }
}

function recipeOf(zk: ZooKeeper, path: string, args: Arguments): Taker {
  const label = args.text('label') ?? `${hostname()}:${process.pid}`
  const permits = args.wholeNumber('permits', 1)
  const count = args.wholeNumber('count', 1)
  const kinds = [args.has('read'), args.has('write'), permits !== undefined].filter(Boolean)
  if (kinds.length > 1) throw new UsageError('--read, --write and --permits exclude each other')
  if (count !== undefined && permits === undefined) throw new UsageError('--count needs --permits')
  try {
    if (permits !== undefined) return permitsOf(new Semaphore(zk, path, { label, permits }), count ?? 1)
    if (args.has('read')) return new SharedLock(zk, path, { label }).read
    if (args.has('write')) return new SharedLock(zk, path, { label }).write
    return new Lock(zk, path, { label })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

type Taker = Pick<Acquirable<Held>, 'acquire' | 'tryAcquire'>

function permitsOf(semaphore: Semaphore, count: number): Taker {
  return {
    acquire: (options) => semaphore.acquire({ ...options, count }),
    tryAcquire: (options) => semaphore.tryAcquire({ ...options, count }),
  }
}

async function acquire(taker: Taker, args: Arguments, options: AcquireOptions): Promise<Held | undefined> {
  if (args.has('nonblock')) {
    const held = await taker.tryAcquire(options)
    if (held === undefined) say('the lock is held')
    return held
  }
  return taker.acquire(options)
}

interface Running {
  readonly path: string
  readonly signals: Signals
  readonly connection: Connection
  readonly ending: EndingOptions
}

async function runHeld(held: Held, words: readonly string[], running: Running): Promise<number> {
  const { path, signals, connection, ending } = running
  const isForeground = isatty(0)
  const command = await GuardedCommand.start(
    {
      words,
      inForeground: isForeground,
      mark: `ZK_LOCK_NODE=${held.path}`,
      environment: {
        ZK_LOCK_TOKEN: String(held.fencingToken),
        ZK_LOCK_PATH: path,
        ZK_LOCK_NODE: held.path,
        ZK_SESSION_ID: `0x${held.session.id.toString(16)}`,
        ZK_LOCK_LEASE_UNTIL: new Date(Date.now() + held.leaseRemaining()).toISOString(),
      },
    },
    held.leaseRemaining(),
    () =>
      signals.ending === undefined && verdict(held.leaseRemaining(), held.session.timeout, undefined).name === 'run',
  )
  if (command === undefined) {
    await held.release()
    if (signals.ending !== undefined) return exitCodeOf(signals.ending)
    say('the lease ended before the command could start')
    return EXIT.lost
  }
  signals.passTo(command, isForeground)
  const lease = new LeaseWatch(held, command, connection, ending)
  const end = await Promise.race([command.ended, lease.lost])
  lease.stop()
  if (typeof end === 'number') {
    // What the command has left behind must be gone before the next holder begins.
    await command.finish(lease.grace())
    await held.release()
    return end
  }
  say(end.why)
  await command.finish(end.grace)
  // Without a connection nothing can be released: the session ends by itself.
  return EXIT.lost
}

/** The file appears with all of its content: a reader never sees half a token. */
function writeWhole(file: string, text: string): void {
  try {
    writeFileSync(`${file}.${process.pid}`, text)
    renameSync(`${file}.${process.pid}`, file)
  } catch (error) {
    throw new UsageError(`the token cannot be written to ${file}: ${(error as Error).message}`)
  }
}
