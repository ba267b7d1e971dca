// The command that runs under the lock, and its end.
import { spawn } from 'node:child_process'
import type { Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { say } from '../command/output.ts'
import { exitCodeOf } from '../command/exit.ts'
import { Guardian } from './guardian.ts'
import { type Family, markOf, membersOf, signalFamily, startTimeOf } from './process-table.ts'

/** Between two looks for what is left of the command, in ms. */
const REPEAT = 20
/** The same while it may end by itself: looks take CPU time that it needs. */
const REPEAT_IN_GRACE = 100
/** How long SIGKILL may take before zk says so, in ms. */
const COMPLAIN_AFTER = 5_000

/**
 * The command waits for a line on descriptor 3, so that the guardian knows it before it does anything: if zk is killed before,
 * it never starts. `exec` replaces this shell, which interprets nothing of the command. Its codes 126 and 127 are the usual ones.
 */
const LAUNCHER = 'read -r go <&3 || exit 75; exec 3<&-; exec "$@"'

export interface Program {
  readonly words: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  /** The node that is held. No other process of this machine has it in its environment. */
  readonly node: string
  /** Whether it stays in the group of zk, in the foreground of a terminal. */
  readonly inForeground: boolean
}

export class GuardedCommand {
  /** Settles with its exit code when the first process has ended. Others of its group may be left. */
  readonly ended: Promise<number>
  readonly #family: Family
  readonly #reserve: number
  #guardian: Guardian
  /** By the steady clock, in ms. */
  #leaseEnd: number
  #isFinished = false

  /**
   * `lease` is what is left of the lease, and the guardian kills the command `reserve` before its end, in ms. `mayStart` is asked at
   * the last moment. Resolves with undefined if it says no: then nothing has run.
   */
  static async start(
    program: Program,
    lease: number,
    reserve: number,
    mayStart: () => boolean,
  ): Promise<GuardedCommand | undefined> {
    const leaseEnd = performance.now() + lease
    const child = spawn('/bin/sh', ['-c', LAUNCHER, 'zk', ...program.words], {
      // The new session has a group of its own, which cannot read from a terminal.
      detached: !program.inForeground,
      stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
      env: { ...process.env, ...program.environment, ...markOf(program.node, process.env) },
    })
    const ended = new Promise<number>((resolve) => {
      child.once('exit', (code, signal) => resolve(signal === null ? (code ?? 0) : exitCodeOf(signal)))
    })
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject)
      child.once('spawn', resolve)
    })
    const first = child.pid ?? 0
    const family: Family = { first, since: startTimeOf(first), ownsGroup: !program.inForeground, node: program.node }
    const launch = child.stdio[3] as Writable
    launch.on('error', () => {})
    try {
      const guardian = new Guardian(family, leaseEnd - performance.now(), reserve)
      await guardian.ready
      const command = new GuardedCommand(ended, family, reserve, guardian, leaseEnd)
      if (mayStart()) {
        launch.write('go\n')
        return command
      }
      launch.end()
      await command.finish(0)
      return undefined
    } finally {
      launch.end()
    }
  }

  private constructor(ended: Promise<number>, family: Family, reserve: number, guardian: Guardian, leaseEnd: number) {
    this.ended = ended
    this.#family = family
    this.#reserve = reserve
    this.#guardian = guardian
    this.#leaseEnd = leaseEnd
    this.#watch(guardian)
  }

  /** The lease lasts so long from now, in ms. The guardian kills the command when zk does not say so again in time. */
  extend(lease: number): void {
    this.#leaseEnd = performance.now() + lease
    this.#guardian.extend(lease)
  }

  async signal(name: NodeJS.Signals): Promise<void> {
    await this.#send(name)
  }

  /**
   * Ends what is left of the command: SIGTERM, and SIGKILL after the grace, in ms. Resolves when nothing of it is left, with what is
   * left of the lease then, in ms. The lock is kept until then.
   */
  async finish(grace: number): Promise<number> {
    const startedAt = performance.now()
    await this.#send('SIGTERM')
    // A stopped process gets SIGTERM only when it continues.
    await this.#send('SIGCONT')
    let hasComplained = false
    let endedAt = NaN
    // A process that is born while another one ends may not be seen: the first look that finds nothing proves little.
    for (let empty = 0; empty < 2;) {
      const waited = performance.now() - startedAt
      const members = await (waited < grace ? membersOf(this.#family, this.#others()) : this.#send('SIGKILL'))
      empty = members.length === 0 ? empty + 1 : 0
      if (empty === 1) endedAt = performance.now()
      if (members.length > 0 && waited > grace + COMPLAIN_AFTER && !hasComplained) {
        hasComplained = true
        const pids = members.map(({ pid }) => pid).join(', ')
        say(`SIGKILL does not end the processes ${pids}: keeping the lock until they are gone`)
      }
      // SIGKILL is sent in time.
      await pause(members.length > 0 && waited < grace ? Math.min(REPEAT_IN_GRACE, grace - waited) : REPEAT)
    }
    this.#isFinished = true
    this.#guardian.dismiss()
    return this.#leaseEnd - endedAt
  }

  #send(name: NodeJS.Signals): ReturnType<typeof signalFamily> {
    return signalFamily(this.#family, name, this.#others())
  }

  /** Replaces a guardian that somebody has killed. */
  #watch(guardian: Guardian): void {
    void guardian.ended.then(async () => {
      if (this.#isFinished) return
      say('the guardian of the command was killed: starting another one')
      try {
        this.#guardian = new Guardian(this.#family, this.#leaseEnd - performance.now(), this.#reserve)
        await this.#guardian.ready
        this.#watch(this.#guardian)
      } catch (error) {
        say(`ending the command: ${(error as Error).message}`)
        await this.#send('SIGKILL')
      }
    })
  }

  #others(): number[] {
    return [process.pid, this.#guardian.pid]
  }
}
