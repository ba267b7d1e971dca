// `zk elect`: keeps a command running on exactly one host.
import { setTimeout as pause } from 'node:timers/promises'
import type { ZooKeeper } from '@zk/client'
import { type Held, LeaderElection } from '@zk/recipes'
import type { Command } from '../command/command.ts'
import { connectWith } from '../command/connection.ts'
import type { Arguments } from '../command/options.ts'
import { say } from '../command/output.ts'
import { sayOutages } from './outages.ts'
import { readRun, type Run, RUN_OPTIONS, runWhileHeld } from './run-while-held.ts'
import { codeOfSignal, Signals } from './signals.ts'

/** The pauses before a command that has ended is started again double from the first to the last; in ms. */
const FIRST_PAUSE = 1_000
const LAST_PAUSE = 30_000
/** The launcher gives them: the command is no program, or does not exist. */
const CANNOT_RUN: readonly number[] = [126, 127]

export const ELECT: Command = {
  runsProgram: true,
  usage: 'PATH [options] -- COMMAND [ARG…]',
  options: RUN_OPTIONS,
  notes: `The command starts when this host is elected. If it ends by itself, it is started again after a pause of 1s, which doubles up to
30s, and is 1s again once the command has run for longer than that. If the leadership is lost, all processes of the command are ended before
another host can be elected, and this host is a candidate again.

SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed to the command. When it has ended, zk resigns and ends with 128 + n.
The environment and the other signals are those of zk lock.

Example:
  zk elect /leaders/scheduler -c zk1:2181,zk2:2181 -- /usr/local/bin/scheduler --verbose
`,
  run: elect,
}

async function elect(args: Arguments, program: readonly string[]): Promise<number> {
  const run = readRun(args, program, 'zk elect PATH -- COMMAND')
  const signals = new Signals()
  try {
    const zk = await connectWith(args, process.env, signals.leave)
    try {
      const election = new LeaderElection(zk, run.path, { label: run.label })
      for (;;) {
        const held = await campaign(zk, election, signals)
        const code = await lead(zk, held, run, signals)
        if (code !== undefined) return code
        if (signals.ending !== undefined) return codeOfSignal(signals)
      }
    } finally {
      await zk.close()
    }
  } catch (error) {
    if (signals.ending !== undefined) return codeOfSignal(signals)
    throw error
  } finally {
    signals.dispose()
  }
}

async function campaign(zk: ZooKeeper, election: LeaderElection, signals: Signals): Promise<Held> {
  const stopSaying = sayOutages(zk)
  try {
    return await election.campaign({ signal: signals.leave })
  } finally {
    stopSaying()
  }
}

/**
 * Runs the command again and again, until the leadership is lost or a signal ends it. Resolves with an exit code if the command
 * cannot be run on this host: then another one should lead.
 */
async function lead(zk: ZooKeeper, held: Held, run: Run, signals: Signals): Promise<number | undefined> {
  const over = new AbortController()
  const abort = (): void => over.abort()
  for (const signal of [held.signal, signals.leave]) signal.addEventListener('abort', abort)
  try {
    let wait = FIRST_PAUSE
    while (held.isHeld() && signals.ending === undefined) {
      const startedAt = performance.now()
      const end = await runWhileHeld(zk, held, run, signals)
      if (end.name === 'lost') return undefined
      if (end.name === 'ended' && CANNOT_RUN.includes(end.code)) {
        await held.release()
        return end.code
      }
      if (end.name === 'notStarted' || signals.ending !== undefined) break
      if (performance.now() - startedAt > wait) wait = FIRST_PAUSE
      say(`the command has ended with ${end.code}: it starts again in ${wait / 1_000} s`)
      await pause(wait, undefined, { signal: over.signal }).catch(() => {})
      wait = Math.min(2 * wait, LAST_PAUSE)
    }
    await held.release()
    return undefined
  } finally {
    for (const signal of [held.signal, signals.leave]) signal.removeEventListener('abort', abort)
  }
}
