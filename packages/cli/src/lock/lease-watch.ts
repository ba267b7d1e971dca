// Watches the lease of a command that runs.
import type { ZooKeeper } from '@zk/client'
import type { Held } from '@zk/recipes'
import { graceAfter, reserve, verdict } from './ending.ts'
import type { GuardedCommand } from './guarded-command.ts'

/** How often the lease and the connection are looked at, and the guardian hears how far the lease reaches; in ms. */
const LOOK_EVERY = 500

export interface Loss {
  /** What to tell the user. */
  readonly why: string
  /** Whether the lock was still held, so that the end of the lease says something. */
  readonly wasHeld: boolean
  /** How long the command has between SIGTERM and SIGKILL, in ms. */
  readonly grace: number
}

export interface EndingOptions {
  /** From SIGTERM to SIGKILL, in ms; undefined for the default. It is shorter if less is left of the lease. */
  readonly grace: number | undefined
  /** Whether a lost connection ends the command at once. */
  readonly endsWhenSuspended: boolean
}

export class LeaseWatch {
  /** Resolves when the command must be ended. */
  readonly lost: Promise<Loss>
  readonly #zk: ZooKeeper
  readonly #held: Held
  readonly #command: GuardedCommand
  readonly #options: EndingOptions
  /** While there is no connection. */
  #grace: number | undefined
  #settle: (loss: Loss) => void = () => {}
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(zk: ZooKeeper, held: Held, command: GuardedCommand, options: EndingOptions) {
    this.#zk = zk
    this.#held = held
    this.#command = command
    this.#options = options
    this.lost = new Promise((resolve) => (this.#settle = resolve))
    held.signal.addEventListener('abort', this.#look)
    this.#look()
  }

  /** What the command has now to end by itself, in ms. */
  grace(): number {
    const left = this.#remaining() - reserve(this.#held.session.timeout)
    return Math.max(0, Math.min(left, this.#options.grace ?? this.#defaultGrace()))
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#held.signal.removeEventListener('abort', this.#look)
  }

  readonly #look = (): void => {
    clearTimeout(this.#timer)
    const { signal, session } = this.#held
    if (signal.aborted) {
      // Somebody else may hold the lock by now: the node or the session is gone.
      return this.#settle({ why: `the lock is lost: ${(signal.reason as Error).message}`, wasHeld: false, grace: 0 })
    }
    const isLost = this.#zk.state.name !== 'connected'
    this.#grace = isLost ? (this.#grace ?? this.#options.grace ?? this.#defaultGrace()) : undefined
    const now = verdict(this.#remaining(), session.timeout, this.#grace)
    if (isLost && this.#options.endsWhenSuspended) {
      return this.#settle({ why: 'the connection is lost: ending the command', wasHeld: true, grace: this.grace() })
    }
    if (now.name === 'end') {
      const why = isLost ? 'the connection is lost, and the lease about to end' : 'the lease is not renewed in time'
      return this.#settle({ why: `${why}: ending the command`, wasHeld: true, grace: now.grace })
    }
    this.#command.extend(this.#remaining())
    this.#timer = setTimeout(this.#look, Math.min(now.for, LOOK_EVERY))
  }

  #remaining(): number {
    return this.#held.isHeld() ? this.#held.leaseRemaining() : 0
  }

  #defaultGrace(): number {
    return graceAfter(this.#remaining(), this.#held.session.timeout)
  }
}
