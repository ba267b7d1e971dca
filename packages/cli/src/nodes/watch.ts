// `zk watch`: the events of nodes as lines, or a run of a command for each.
import { type ChildProcess, spawn } from 'node:child_process'
import { isatty } from 'node:tty'
import type { PersistentWatchEvent, WatchIterator } from '@zk/client'
import { hex, printable } from '@zk/client/internal'
import type { Command } from '../command/command.ts'
import { withClient } from '../command/connection.ts'
import { EXIT, exitCodeOf } from '../command/exit.ts'
import { interruptible } from '../command/interrupt.ts'
import { jsonLine, print, say } from '../command/output.ts'
import { pathOf } from './path.ts'

export const WATCH: Command = {
  runsProgram: true,
  usage: 'PATH [options] [-- COMMAND [ARG…]]',
  options: [
    { name: 'recursive', short: 'r', help: 'also watch all nodes below it' },
    { name: 'count', short: 'n', value: 'N', help: 'end after N events (default: never)' },
    { name: 'json', help: 'print JSON, a line an event' },
  ],
  notes: `A line an event: NodeCreated, NodeDeleted, NodeDataChanged or (not with -r) NodeChildrenChanged, and the path. The node need not
exist. A line "Gap PATH CAUSE" means that events may have been missed: the connection was lost (reconnected), the session ended (renewed), or
too many events waited (overflow): read the nodes again. zk says on standard error when the watch is set. Servers before 3.6 cannot do this.

With a command nothing is printed: the command runs for each event and each gap, one at a time, without a shell, with ZK_EVENT, ZK_PATH and
ZK_ZXID (from servers of 3.9 on; otherwise empty) in its environment. zk says if it fails and goes on, and in the end has the code of the first
failure. SIGHUP, SIGINT, SIGQUIT and SIGTERM are passed to the command, and end zk after it.

Examples:
  zk watch -r /config
  zk watch /config/nginx -- systemctl reload nginx
  zk watch /jobs/today -n 1 && echo changed
`,
  run: async (args, program) => {
    const path = pathOf(args, 'zk watch PATH [-- COMMAND]')
    const count = args.wholeNumber('count', 1) ?? Infinity
    return withClient(args, async (zk) => {
      const events = await zk.watch(path, { recursive: args.has('recursive') })
      say(`watching ${printable(path)}`)
      if (program.length > 0) return runForEach(events, count, program)
      const shown = (event: PersistentWatchEvent): string =>
        args.has('json') ? jsonLine(documentOf(event, zk.runtime.wallNow())) : lineOf(event)
      return interruptible((signal) => printEach(events, count, shown, signal))
    })
  },
}

async function printEach(
  events: WatchIterator<PersistentWatchEvent>,
  count: number,
  shown: (event: PersistentWatchEvent) => string,
  signal: AbortSignal,
): Promise<number> {
  signal.addEventListener('abort', () => void events.return?.())
  let seen = 0
  for await (const event of events) {
    if (isEnd(event)) return sayEnd(event)
    print(`${shown(event)}\n`)
    if (++seen === count) break
  }
  return EXIT.done
}

function isEnd({ type }: PersistentWatchEvent): boolean {
  return type === 'SessionEnded' || type === 'PersistentWatchRemoved'
}

function sayEnd({ type }: PersistentWatchEvent): number {
  say(`the watch has ended: ${type}`)
  return EXIT.unavailable
}

function zxidOf(event: PersistentWatchEvent): string | undefined {
  return 'zxid' in event && event.zxid !== undefined ? hex(event.zxid) : undefined
}

function lineOf(event: PersistentWatchEvent): string {
  return `${event.type} ${printable(event.path)}${event.type === 'Gap' ? ` ${event.cause}` : ''}`
}

function documentOf(event: PersistentWatchEvent, now: number): Readonly<Record<string, unknown>> {
  const { type, path } = event
  const cause = event.type === 'Gap' ? { cause: event.cause } : {}
  return { type, path, ...cause, zxid: zxidOf(event), time: new Date(now).toISOString(), timeMs: now }
}

const ENDING = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const
/** The terminal sends them to the command, too. */
const FROM_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT']

/** Runs the command for one event after the other. Resolves with the exit code of the first run that fails. */
async function runForEach(
  events: WatchIterator<PersistentWatchEvent>,
  count: number,
  program: readonly string[],
): Promise<number> {
  let running: ChildProcess | undefined
  let ending: NodeJS.Signals | undefined
  const end = (signal: NodeJS.Signals): void => {
    ending ??= signal
    if (running === undefined) void events.return?.()
    else if (!isatty(0) || !FROM_TERMINAL.includes(signal)) running.kill(signal)
  }
  for (const signal of ENDING) process.on(signal, end)
  let code: number = EXIT.done
  let seen = 0
  try {
    for await (const event of events) {
      if (isEnd(event)) return sayEnd(event)
      running = start(program, event)
      const ended = await codeOf(running)
      running = undefined
      if (ending !== undefined) break
      if (ended.isCannotRun) return ended.code
      if (ended.code !== 0) {
        if (code === EXIT.done) code = ended.code
        say(`the command ended with ${ended.code} after ${lineOf(event)}`)
      }
      if (++seen === count) break
    }
    return ending === undefined ? code : exitCodeOf(ending)
  } finally {
    for (const signal of ENDING) process.off(signal, end)
  }
}

function start([file, ...args]: readonly string[], event: PersistentWatchEvent): ChildProcess {
  const environment = { ZK_EVENT: event.type, ZK_PATH: event.path, ZK_ZXID: zxidOf(event) ?? '' }
  return spawn(file!, args, { stdio: 'inherit', env: { ...process.env, ...environment } })
}

interface Ended {
  readonly code: number
  /** Whether there is no such program, or it must not be run. */
  readonly isCannotRun: boolean
}

function codeOf(child: ChildProcess): Promise<Ended> {
  return new Promise((resolve) => {
    child.once('error', (error: NodeJS.ErrnoException) => {
      say(`the command cannot be run: ${error.message}`)
      resolve({ code: error.code === 'ENOENT' ? 127 : 126, isCannotRun: true })
    })
    child.once('exit', (code, signal) => {
      resolve({ code: code ?? exitCodeOf(signal!), isCannotRun: false })
    })
  })
}
