// The program of each client, as a user would write it. While it holds, it waits for `release`.
import { connect, type Runtime, type Session, type ZooKeeper } from '@zk/client'
import {
  type Acquirable,
  type Held,
  LeaderElection,
  Lock,
  type LockLostError,
  Semaphore,
  type SemaphoreHeld,
  SharedLock,
} from '@zk/recipes'
import type { Happening } from '../history/history.ts'
import { PATH } from '../play/paths.ts'
import { locksOf, nodesAndTokens } from '../play/locks-program.ts'
import { permitsOf } from '../play/semaphore-program.ts'
import type { LockName } from '../scenario/locks.ts'
import type { HoldKind, TaskRecipe, Task } from '../scenario/scenario.ts'

export interface ContestantOptions {
  readonly client: number
  readonly runtime: Runtime
  readonly recipe: TaskRecipe
  readonly kind: HoldKind
  readonly permits: number | undefined
  readonly count: number | undefined
  readonly locks: readonly LockName[] | undefined
  readonly record: (happening: Happening) => void
}

type Phase = 'connecting' | 'entering' | 'waiting' | 'holding' | 'leaving' | 'done'

export class Contestant {
  readonly #options: ContestantOptions
  readonly #aborting = new AbortController()
  #zk: ZooKeeper | undefined
  #session: Session | undefined
  #release: () => void = () => {}
  #phase: Phase = 'connecting'

  constructor(options: ContestantOptions) {
    this.#options = options
  }

  get phase(): Phase {
    return this.#phase
  }

  async connect(): Promise<void> {
    this.#zk = await connect('zk1:2181', { runtime: this.#options.runtime })
    this.#phase = 'entering'
  }

  /** Acquires, holds until `release` is called, releases. */
  async compete(): Promise<void> {
    const { client: attempt, client, record } = this.#options
    const task = taskOf(this.#options)
    record({ type: 'attempted', attempt, client, task })
    try {
      if (task.how === 'terms') await this.#lead()
      else await this.#acquireAndRelease()
      record({ type: 'released', attempt, isSessionOver: this.#session!.signal.aborted })
    } catch (error) {
      const { signal } = this.#aborting
      const why = signal.aborted && error === signal.reason ? 'aborted' : 'error'
      record({ type: 'refused', attempt, why, error: String(error) })
    }
    this.#phase = 'done'
    record({ type: 'done', attempt })
  }

  release(): void {
    this.#phase = 'leaving'
    this.#release()
  }

  abort(): void {
    this.#aborting.abort(new Error('aborted'))
  }

  get isAborted(): boolean {
    return this.#aborting.signal.aborted
  }

  async #acquireAndRelease(): Promise<void> {
    const held = await this.#acquirable.acquire(this.#waiting())
    await this.#hold(held)
    await held.release()
  }

  get #acquirable(): Acquirable<Held> {
    const { recipe, kind, permits, count } = this.#options
    switch (recipe) {
      case 'Lock':
        return new Lock(this.#zk!, PATH)
      case 'SharedLock':
        return new SharedLock(this.#zk!, PATH)[kind === 'read' ? 'read' : 'write']
      case 'LeaderElection':
        throw new Error('an election is stood for, not acquired')
      case 'Semaphore':
        return permitsOf(new Semaphore(this.#zk!, PATH, { permits }), { count })
      case 'MultiLock':
        return locksOf(this.#zk!, taskOf(this.#options))
    }
  }

  async #lead(): Promise<void> {
    const election = new LeaderElection(this.#zk!, PATH)
    for await (const leadership of election.terms(this.#waiting())) {
      await this.#hold(leadership)
      return
    }
    throw this.#aborting.signal.reason
  }

  #waiting() {
    const { client: attempt, record } = this.#options
    return {
      signal: this.#aborting.signal,
      onQueued: ({ ahead }: { readonly ahead: readonly string[] }) => {
        this.#phase = 'waiting'
        record({ type: 'queued', attempt, ahead })
      },
    }
  }

  async #hold(held: Held): Promise<void> {
    const { client: attempt, client, kind, record } = this.#options
    this.#phase = 'holding'
    this.#session = this.#zk!.session
    const permits = 'permits' in held ? { permits: (held as SemaphoreHeld).permits } : {}
    const more = this.#options.locks && nodesAndTokens(held)
    record({ type: 'granted', attempt, client, kind, path: held.path, fence: held.fencingToken, ...permits, ...more })
    const lost = () => record({ type: 'lost', attempt, reason: (held.signal.reason as LockLostError).reason })
    if (held.signal.aborted) lost()
    else held.signal.addEventListener('abort', lost, { once: true })
    await new Promise<void>((resolve) => {
      this.#release = resolve
    })
  }
}

function taskOf({ recipe, kind, locks: names }: ContestantOptions): Task {
  const how = recipe === 'LeaderElection' ? 'terms' : 'acquire'
  const locks = names?.map((name) => ({ name, mode: 'exclusive' }) as const)
  return {
    kind,
    how,
    after: 0,
    hold: [],
    writes: 'guarded',
    ...(locks && { locks }),
    ...(locks?.length === 1 && { taking: 'plain' }),
  }
}
