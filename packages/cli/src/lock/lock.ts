// `zk lock`: runs a command while it holds the lock.
import { renameSync, writeFileSync } from 'node:fs'
import type { ZooKeeper } from '@zk/client'
import {
  type Acquirable,
  type AcquireOptions,
  type Held,
  Lock,
  once,
  Semaphore,
  SharedLock,
  WaitTimeoutError,
} from '@zk/recipes'
import type { Command } from '../command/command.ts'
import { connectWith } from '../command/connection.ts'
import { EXIT } from '../command/exit.ts'
import { type Arguments, UsageError } from '../command/options.ts'
import { say } from '../command/output.ts'
import { sayOutages } from './outages.ts'
import { type End, readRun, type Run, RUN_OPTIONS, runWhileHeld } from './run-while-held.ts'
import { codeOfSignal, Signals } from './signals.ts'

export const LOCK: Command = {
  runsProgram: true,
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
    {
      name: 'slot',
      value: 'TEXT',
      help: 'at most one run that ends with 0 in the period of this name; the names come in order, as dates do',
    },
    {
      name: 'once-per',
      value: 'TIME',
      help: 'the same, with periods of this length, such as 1h, by the clock of the ensemble',
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

With --slot or --once-per the command does not run, and zk ends with 0, if a run of the period is recorded. If another host is running it,
zk ends with 1, or waits as long as -w says.

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
  const period = periodOf(args)

  const signals = new Signals()
  try {
    const zk = await connectWith(args, process.env, signals.leave)
    const stopSaying = sayOutages(zk)
    try {
      const waiting = { signal: signals.leave, ...(wait === undefined ? {} : { timeout: wait }) }
      if (period !== undefined)
        return await runOnce(zk, run, { ...period, ...waiting }, signals, { conflict, onGranted: stopSaying })
      const held = await acquire(makeTaker(zk), args, waiting)
      stopSaying()
      if (held === undefined) return conflict
      const tokenFile = args.text('token-file')
      if (tokenFile !== undefined) writeWhole(tokenFile, `${held.fencingToken}\n`)
      const end = await runWhileHeld(zk, held, run, signals)
      if (end.name === 'lost') return EXIT.lost
      await releaseOrSay(held)
      return end.name === 'ended' ? end.code : codeOfSignal(signals)
    } finally {
      stopSaying()
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

type Period = { readonly slot: string } | { readonly every: number }

function periodOf(args: Arguments): Period | undefined {
  const slot = args.text('slot')
  const every = args.duration('once-per')
  if (every === 0) throw new UsageError('--once-per must be longer than 0')
  if (slot === undefined && every === undefined) return undefined
  if (slot !== undefined && (slot === '' || slot.length > 255)) throw new UsageError('--slot needs 1 to 255 characters')
  const others = ['read', 'write'].filter((name) => args.has(name))
  const texts = ['permits', 'token-file', ...(slot === undefined ? [] : ['once-per'])].filter(
    (name) => args.text(name) !== undefined,
  )
  const [other] = [...others, ...texts]
  if (other !== undefined)
    throw new UsageError(`--${other} does not go with --${slot === undefined ? 'once-per' : 'slot'}`)
  return slot === undefined ? { every: every! } : { slot }
}

/** The run is not recorded, and the next call in the period runs the command again. */
class NotDone extends Error {
  override readonly name = 'NotDone'
  readonly end: End

  constructor(end: End) {
    super('the command did not end with 0')
    this.end = end
  }
}

/** Runs the command unless a run of the period is recorded. Only a run that ends with 0 is recorded. */
async function runOnce(
  zk: ZooKeeper,
  run: Run,
  options: Period & Pick<AcquireOptions, 'timeout' | 'signal'>,
  signals: Signals,
  { conflict, onGranted }: { readonly conflict: number; readonly onGranted: () => void },
): Promise<number> {
  try {
    const call = await once(zk, run.path, { ...options, label: run.label }, async (held) => {
      onGranted()
      const end = await runWhileHeld(zk, held, run, signals)
      if (end.name !== 'ended' || end.code !== 0) throw new NotDone(end)
    })
    if (call.ran) return EXIT.done
    if (call.why === 'done') {
      say(`done already: by ${call.run.label}, at ${new Date(call.run.at).toISOString()}`)
      return EXIT.done
    }
    say('another host is running it')
    return conflict
  } catch (error) {
    if (!(error instanceof NotDone)) throw error
    if (error.end.name === 'lost') return EXIT.lost
    return error.end.name === 'ended' ? error.end.code : codeOfSignal(signals)
  }
}

/** Checks the options before a server is asked. */
function takerOf({ path, label }: Run, args: Arguments): (zk: ZooKeeper) => Taker {
  const permits = args.wholeNumber('permits', 1)
  const count = args.wholeNumber('count', 1)
  const kinds = [args.has('read'), args.has('write'), permits !== undefined].filter(Boolean)
  if (kinds.length > 1) throw new UsageError('--read, --write and --permits exclude each other')
  if (count !== undefined && permits === undefined) throw new UsageError('--count needs --permits')
  if (count !== undefined && count > permits!)
    throw new UsageError(`--count ${count} is more than --permits ${permits}`)
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

/** The exit code stays that of the command: if the node cannot be deleted, it goes with the session. */
async function releaseOrSay(held: Held): Promise<void> {
  try {
    await held.release()
  } catch (error) {
    say((error as Error).message)
  }
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
