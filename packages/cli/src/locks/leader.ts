// `zk leader`: who leads.
import { spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { isTransient, KeeperError, type ZooKeeper } from '@zk/client'
import { hex, printable } from '@zk/client/internal'
import type { Command } from '../command/command.ts'
import { EXIT, exitCodeOf } from '../command/exit.ts'
import { withClientUntilSignal } from '../command/interrupt.ts'
import { type Arguments, UsageError } from '../command/options.ts'
import { print, printJson, say } from '../command/output.ts'
import { pathOf } from '../nodes/path.ts'
import { Changes } from './changes.ts'
import { type Contender, contendersAt } from './contenders.ts'
import { contenderDocument, dateOf } from './shown-contenders.ts'

/** Before a read that has failed for a time is repeated; in ms. */
const PAUSE = 500

export const LEADER: Command = {
  runsProgram: true,
  usage: 'PATH [options] [-- COMMAND [ARG…]]',
  options: [
    { name: 'follow', short: 'f', help: 'go on: a line at each change; an empty one while nobody leads' },
    { name: 'json', help: 'print JSON, with --follow a line at each change' },
  ],
  notes: `Prints the label of the leader (the data of its node), or the path of its node if it has no label. For elections of
@zk/recipes, Curator's LeaderLatch and LeaderSelector, and kazoo's Election, and for the holder of a lock.

With a COMMAND nothing is printed. The command runs for the leader, and with --follow again for each other leader, one
run after another; leaders that come and go during a run are left out. It is not given to a shell. In its environment
are ZK_LEADER_PATH, ZK_LEADER_LABEL, ZK_LEADER_NODE, ZK_LEADER_SESSION, ZK_LEADER_TOKEN and ZK_LEADER_SINCE; while nobody
leads, all but the first are empty. SIGINT, SIGTERM and SIGHUP end it, too.

While the connection is lost, another leader may be elected: standard error says so.

Exit codes: 0 done, or the code of the command; 1 nobody leads, 66 there is no such path, 69 no server, 77 no permission.

Examples:
  zk leader /leaders/scheduler
  zk leader /leaders/scheduler --follow -- /usr/local/bin/point-proxy-to-leader
`,
  run: leader,
}

async function leader(args: Arguments, program: readonly string[]): Promise<number> {
  const path = pathOf(args, 'zk leader PATH')
  if (args.has('json') && program.length > 0) throw new UsageError('--json does not go with a command')
  return withClientUntilSignal(args, async (zk, signal) => {
    if (args.has('follow')) return follow(zk, path, signal, teller(args, path, program, signal))
    const now = leaderOf(await contendersAt(zk, path, { signal }))
    if (program.length > 0) return runFor(now, path, program, signal)
    if (now === undefined) say(`nobody leads at ${printable(path)}`)
    if (args.has('json')) printJson({ path, leader: now === undefined ? null : documentOf(now) })
    else if (now !== undefined) print(`${lineOf(now)}\n`)
    return now === undefined ? EXIT.notDone : EXIT.done
  })
}

type Tell = (leader: Contender | undefined) => Promise<void>

/** Runs until the signal aborts: then it rejects. */
async function follow(zk: ZooKeeper, path: string, signal: AbortSignal, tell: Tell): Promise<number> {
  const changes = await Changes.below(zk, [path], signal)
  let told: Contender | undefined | 'nothing' = 'nothing'
  for (;;) {
    const now = await read(zk, path, signal)
    if (told === 'nothing' || now?.fencingToken !== told?.fencingToken || now?.label !== told?.label) await tell(now)
    told = now
    for (let mayBeOld = true; mayBeOld;) {
      for (const change of await changes.next()) {
        if (change.name !== 'connection') mayBeOld = false
        else say(change.isConnected ? 'connected again' : 'the connection is lost: another leader may be elected')
      }
    }
  }
}

/** undefined while nobody leads, or the path does not exist. */
async function read(zk: ZooKeeper, path: string, signal: AbortSignal): Promise<Contender | undefined> {
  for (;;) {
    try {
      return leaderOf(await contendersAt(zk, path, { signal }))
    } catch (error) {
      if (KeeperError.is(error, 'NoNode')) return undefined
      if (!isTransient(error) && !KeeperError.is(error, 'SessionExpired')) throw error
      await pause(PAUSE, undefined, { signal })
    }
  }
}

const leaderOf = (contenders: readonly Contender[]): Contender | undefined =>
  contenders.find(({ isGranted }) => isGranted === true)

function teller(args: Arguments, path: string, program: readonly string[], signal: AbortSignal): Tell {
  return async (leader) => {
    if (program.length > 0) {
      const code = await runFor(leader, path, program, signal)
      if (code !== 0 && !signal.aborted) say(`the command has ended with ${code}`)
    } else if (args.has('json')) {
      const at = new Date()
      printJson({
        at: at.toISOString(),
        atMs: at.getTime(),
        path,
        leader: leader === undefined ? null : documentOf(leader),
      })
    } else print(`${leader === undefined ? '' : lineOf(leader)}\n`)
  }
}

const lineOf = ({ label, path }: Contender): string => printable(label === '' ? path : label)

/** It leads: there is nobody for whom it waits. */
function documentOf(leader: Contender): Readonly<Record<string, unknown>> {
  const { isGranted: _, behind: __, ...document } = contenderDocument(leader, undefined)
  return document
}

/** Resolves with the exit code of the command: 126 and 127 if it cannot be run. */
function runFor(
  leader: Contender | undefined,
  path: string,
  [file = '', ...words]: readonly string[],
  signal: AbortSignal,
): Promise<number> {
  const environment = {
    ZK_LEADER_PATH: path,
    // An environment cannot have it.
    ZK_LEADER_LABEL: leader?.label.replaceAll('\0', '\\u0000') ?? '',
    ZK_LEADER_NODE: leader?.path ?? '',
    ZK_LEADER_SESSION: leader === undefined ? '' : hex(leader.sessionId),
    ZK_LEADER_TOKEN: leader === undefined ? '' : String(leader.fencingToken),
    ZK_LEADER_SINCE: leader === undefined ? '' : dateOf(leader.since),
  }
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException): void => {
      say(`${file} cannot be run: ${error.message}`)
      resolve(error.code === 'ENOENT' ? 127 : 126)
    }
    try {
      const child = spawn(file, words, { stdio: 'inherit', env: { ...process.env, ...environment } })
      // The terminal sends SIGINT to the command, too; other signals reach zk alone.
      const end = (): void => void child.kill('SIGTERM')
      signal.addEventListener('abort', end)
      child.once('error', fail)
      child.once('exit', (code, name) => {
        signal.removeEventListener('abort', end)
        resolve(name === null ? (code ?? 0) : exitCodeOf(name))
      })
    } catch (error) {
      // The label may be longer than an environment can be.
      fail(error as NodeJS.ErrnoException)
    }
  })
}
