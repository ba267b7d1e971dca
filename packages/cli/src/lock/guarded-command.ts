// The command that runs under the lock, and its end.
import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as pause } from 'node:timers/promises'
import { say } from '../command/output.ts'
import { exitCodeOf } from '../command/exit.ts'
import { Guardian } from './guardian.ts'
import { type Family, membersOf, signalFamily } from './process-table.ts'

/** Between two looks for what is left of the command, in ms. */
const REPEAT = 20
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
  /** `NAME=value` of the environment, which no other process of this machine has. */
  readonly mark: string
  /** Whether it stays in the group of zk, in the foreground of a terminal. */
  readonly inForeground: boolean
}

export class GuardedCommand {
  /** Settles with its exit code when the first process has ended. Others of its group may be left. */
  readonly ended: Promise<number>
  readonly #family: Family
  #guardian: Guardian
  /** By the steady clock, in ms. */
  #leaseEnd = 0
  #isFinished = false

  /**
   * `lease` is what is left of the lease, in ms. `mayStart` is asked at the last moment. Resolves with undefined if it says no: then
   * nothing has run.
   */
  static async start(program: Program, lease: number, mayStart: () => boolean): Promise<GuardedCommand | undefined> {
    const child = spawn('/bin/sh', ['-c', LAUNCHER, 'zk', ...program.words], {
      // The new session has a group of its own, which cannot read from a terminal.
      detached: !program.inForeground,
      stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
      env: { ...process.env, ...program.environment },
    })
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject)
      child.once('spawn', resolve)
    })
    const family: Family = { first: child.pid ?? 0, ownsGroup: !program.inForeground, mark: program.mark }
    const command = new GuardedCommand(child, family, await Guardian.start(family, lease))
    command.#leaseEnd = performance.now() + lease
    const launch = child.stdio[3] as NodeJS.WritableStream
    launch.on('error', () => {})
    if (mayStart()) launch.end('go\n')
    else {
      launch.end()
      await command.finish(0)
      return undefined
    }
    return command
  }

  private constructor(child: ChildProcess, family: Family, guardian: Guardian) {
    this.#family = family
    this.#guardian = guardian
    this.#watch(guardian)
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => resolve(signal === null ? (code ?? 0) : exitCodeOf(signal)))
    })
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
   * Ends what is left of the command: SIGTERM, and SIGKILL after the grace, in ms. Resolves when nothing of it is left: the lock
   * is kept until then.
   */
  async finish(grace: number): Promise<void> {
    const startedAt = performance.now()
    let members = await this.#send('SIGTERM')
    // A stopped process gets SIGTERM only when it continues.
    if (members.length > 0) await this.#send('SIGCONT')
    let hasComplained = false
    while (members.length > 0) {
      await pause(REPEAT)
      const waited = performance.now() - startedAt
      members = waited < grace ? await membersOf(this.#family, this.#others()) : await this.#send('SIGKILL')
      if (members.length > 0 && waited > grace + COMPLAIN_AFTER && !hasComplained) {
        hasComplained = true
        say(`SIGKILL does not end the processes ${members.join(', ')}: keeping the lock until they are gone`)
      }
    }
    this.#isFinished = true
    this.#guardian.dismiss()
  }

  #send(name: NodeJS.Signals): Promise<number[]> {
    return signalFamily(this.#family, name, this.#others())
  }

  /** Replaces a guardian that somebody has killed. */
  #watch(guardian: Guardian): void {
    void guardian.ended.then(async () => {
      if (this.#isFinished) return
      say('the guardian of the command was killed: starting another one')
      this.#guardian = await Guardian.start(this.#family, this.#leaseEnd - performance.now())
      this.#watch(this.#guardian)
    })
  }

  #others(): number[] {
    return [process.pid, this.#guardian.pid]
  }
}
