// What zk does with signals: while it waits they make it leave, and once the command runs they are passed to it.
import { say } from '../command/output.ts'
import { exitCodeOf } from '../command/exit.ts'
import type { GuardedCommand } from './guarded-command.ts'

const ENDING = ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM'] as const
const OTHERS = ['SIGUSR1', 'SIGUSR2', 'SIGWINCH', 'SIGTSTP', 'SIGCONT'] as const
/** The terminal sends them to everything in the foreground. */
const FROM_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGQUIT', 'SIGWINCH']

export class Signals {
  /** The first signal that has told zk, or its command, to end. */
  ending: NodeJS.Signals | undefined
  readonly #leaving = new AbortController()
  readonly #handlers = new Map<NodeJS.Signals, () => void>()
  #command: GuardedCommand | undefined
  #isForeground = false

  constructor() {
    for (const name of ENDING) this.#on(name, () => this.#end(name))
    for (const name of OTHERS) this.#on(name, () => this.#pass(name))
  }

  /** Aborts when zk is to leave the queue. */
  get leave(): AbortSignal {
    return this.#leaving.signal
  }

  /** Passes signals to the command from now on; undefined when it has ended. */
  passTo(command: GuardedCommand | undefined, isForeground: boolean): void {
    this.#command = command
    this.#isForeground = isForeground
    // It came while the command was started.
    if (this.ending !== undefined) this.#pass(this.ending)
  }

  dispose(): void {
    for (const [name, handler] of this.#handlers) process.off(name, handler)
  }

  #end(name: NodeJS.Signals): void {
    this.ending ??= name
    if (this.#command === undefined) this.#leaving.abort()
    else this.#pass(name)
  }

  #pass(name: NodeJS.Signals): void {
    if (this.#command === undefined) return
    if (!this.#isForeground) return void this.#command.signal(name)
    if (name === 'SIGTSTP') {
      // The shell waits for zk, which must go on to renew the lease.
      say('a command that holds a lock is not suspended: it continues')
      void this.#command.signal('SIGCONT')
    } else if (!FROM_TERMINAL.includes(name)) void this.#command.signal(name)
  }

  #on(name: NodeJS.Signals, handler: () => void): void {
    this.#handlers.set(name, handler)
    process.on(name, handler)
  }
}

/** The exit code of a zk that a signal has ended. */
export function codeOfSignal({ ending }: Signals): number {
  return exitCodeOf(ending ?? 'SIGTERM')
}
