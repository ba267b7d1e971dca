// `zk lock`: runs a command while it holds the lock.
import { renameSync, writeFileSync } from 'node:fs'
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
import { EXIT } from '../command/exit.ts'
import { type Arguments, UsageError } from '../command/options.ts'
import { say } from '../command/say.ts'
import { Connection } from './lease-watch.ts'
import { readRun, type Run, RUN_OPTIONS, runWhileHeld } from './run-while-held.ts'
import { codeOfSignal, Signals } from './signals.ts'

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
    ...RUN_OPTIONS,
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
  const run = readRun(args, program, 'zk lock PATH -- COMMAND')
  const makeTaker = takerOf(run, args)
  const conflict = args.wholeNumber('conflict-exit-code', 0) ?? EXIT.notAcquired
  if (conflict > 255) throw new UsageError(`--conflict-exit-code is at most 255, not ${conflict}`)
  const wait = args.duration('wait')
  if (args.has('nonblock') && wait !== undefined) throw new UsageError('-n and -w exclude each other')

  const signals = new Signals()
  try {
    const zk = await connectWith(args, process.env, signals.leave)
    try {
      const connection = new Connection()
      const held = await acquire(makeTaker(zk), args, {
        signal: signals.leave,
        onSuspended: connection.onSuspended,
        onResumed: connection.onResumed,
        ...(wait === undefined ? {} : { timeout: wait }),
      })
      if (held === undefined) return conflict
      const tokenFile = args.text('token-file')
      if (tokenFile !== undefined) writeWhole(tokenFile, `${held.fencingToken}\n`)
      const end = await runWhileHeld(held, run, connection, signals)
      if (end.name === 'lost') return EXIT.lost
      await held.release()
      return end.name === 'ended' ? end.code : codeOfSignal(signals)
    } finally {
      await zk.close()
    }
  } catch (error) {
    if (signals.ending !== undefined) return codeOfSignal(signals)
    if (WaitTimeoutError.is(error)) {
      say(error.message)
      return conflict
    }
    throw error
  } finally {
    signals.dispose()
  }
}

/** Checks the options before a server is asked. */
function takerOf({ path, label }: Run, args: Arguments): (zk: ZooKeeper) => Taker {
  const permits = args.wholeNumber('permits', 1)
  const count = args.wholeNumber('count', 1)
  const kinds = [args.has('read'), args.has('write'), permits !== undefined].filter(Boolean)
  if (kinds.length > 1) throw new UsageError('--read, --write and --permits exclude each other')
  if (count !== undefined && permits === undefined) throw new UsageError('--count needs --permits')
  if (permits !== undefined) return (zk) => permitsOf(new Semaphore(zk, path, { label, permits }), count ?? 1)
  if (args.has('read')) return (zk) => new SharedLock(zk, path, { label }).read
  if (args.has('write')) return (zk) => new SharedLock(zk, path, { label }).write
  return (zk) => new Lock(zk, path, { label })
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

/** The file appears with all of its content: a reader never sees half a token. */
function writeWhole(file: string, text: string): void {
  try {
    writeFileSync(`${file}.${process.pid}`, text)
    renameSync(`${file}.${process.pid}`, file)
  } catch (error) {
    throw new UsageError(`the token cannot be written to ${file}: ${(error as Error).message}`)
  }
}
