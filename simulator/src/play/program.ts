// The program of a client, as a user would write it. It knows nothing of the simulation but its Runtime and its recorder.
import {
  connect,
  ConnectError,
  type DetachedSession,
  KeeperError,
  op,
  type Runtime,
  type Session,
  type Watched,
  type ZooKeeper,
} from '@zk/client'
import {
  type Acquirable,
  type AcquireOptions,
  type Held,
  LeaderElection,
  Lock,
  LockLostError,
  LockTimeoutError,
  type QueuePlace,
  type SemaphoreHeld,
  SharedLock,
  type WriteHeld,
} from '@zk/recipes'
import type { Recorder } from '../history/recorder.ts'
import type { AttemptedTask, Refusal } from '../history/history.ts'
import type { ClientPlan, HandOver, HoldKind, Task, Workload } from '../scenario/scenario.ts'
import type { Participant } from './participant.ts'
import { doSteps } from './steps.ts'
import { CONFIG, PATH, SET } from './paths.ts'
import { followServers } from './follow-servers.ts'
import { saslOption } from './sasl-user.ts'
import { locksOf, nodesAndTokens } from './locks-program.ts'
import { permitsOf, resizeFirst, semaphoreOf } from './semaphore-program.ts'
import type { SemaphorePlan } from '../scenario/semaphore.ts'

export interface ProgramOptions {
  /** The index of the client. */
  readonly client: number
  readonly runtime: Runtime
  readonly connectString: string
  readonly sessionTimeout: number
  readonly recipe: Exclude<Workload, 'ZooKeeper' | 'Group' | 'Mirror'>
  readonly plan: ClientPlan
  readonly semaphore: SemaphorePlan | undefined
  readonly recorder: Recorder
  /** Writes to the resource that checks fences. The write takes a while to arrive. */
  readonly writeOutside: (attempt: number, kind: HoldKind, fence: bigint) => void
}

export class Program implements Participant {
  readonly #options: ProgramOptions
  #zk: ZooKeeper | undefined
  readonly #grants = new Map<number, { readonly held: Held; readonly session: Session }>()
  #watched: Watched | undefined
  #seen = -1
  #isClosed = false
  /** Cancels the timer of the next refresh. */
  #cancelRefresh = () => {}

  constructor(options: ProgramOptions) {
    this.#options = options
  }

  /** The id of its present session; 0 while it has none. */
  get sessionId(): bigint {
    return this.#zk?.session.id ?? 0n
  }

  get isConnected(): boolean {
    return this.#zk?.session.connection !== undefined
  }

  updateServers(connectString: string): void {
    this.#zk?.updateServers(connectString)
  }

  /** The last version of the watched node that it saw. */
  get seen(): number {
    return this.#seen
  }

  askAll(): void {
    for (const [attempt, { held }] of this.#grants) this.#ask(attempt, held)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelRefresh()
    await this.#watched?.unwatch().catch(() => {})
    await this.#zk?.close()
  }

  async connect(): Promise<void> {
    this.#zk = await this.#connect(this.#options.sessionTimeout)
    if (this.#options.plan.follows) followServers(this.#zk)
  }

  begin(failed: (error: unknown) => void): readonly Promise<void>[] {
    const { watches, workers, handOvers = [], refreshesEvery } = this.#options.plan
    const begun = this.#handOver(handOvers)
    if (watches) begun.then(() => this.#watch()).catch(failed)
    if (refreshesEvery !== undefined) this.#refresh(refreshesEvery)
    const stepping = this.#options.plan.steps?.length ? [begun.then(() => this.#step())] : []
    return [...workers.map((tasks) => this.#work(begun, tasks)), ...stepping]
  }

  /** One client after the other goes on with the session. Where it is gone, the next client has a session of its own. */
  async #handOver(handOvers: readonly HandOver[]): Promise<void> {
    for (const { after, sessionTimeout } of handOvers) {
      await this.#pause(after)
      let session = await this.#detach()
      for (let isConnected = false; !isConnected;) {
        try {
          this.#zk = await this.#connect(sessionTimeout, session)
          if (this.#options.plan.follows) followServers(this.#zk)
          isConnected = true
        } catch (error) {
          if (!ConnectError.is(error) && !KeeperError.is(error)) throw error
          session = undefined
          await this.#pause(1)
        }
      }
    }
  }

  #connect(sessionTimeout: number, session?: DetachedSession): Promise<ZooKeeper> {
    const { connectString, runtime, plan } = this.#options
    const options = { runtime, sessionTimeout, ...saslOption(plan.usesSasl) }
    return connect(connectString, session === undefined ? options : { ...options, session })
  }

  async #detach(): Promise<DetachedSession | undefined> {
    try {
      return await this.#zk!.detach()
    } catch (error) {
      if (!KeeperError.is(error)) throw error
      await this.#zk!.close()
      return undefined
    }
  }

  /** As programs do whose credentials expire. */
  #refresh(every: number): void {
    this.#cancelRefresh = this.#options.runtime.setTimer(every, () => {
      this.#zk!.addAuth('digest', `client${this.#options.client}:secret`).catch((error: unknown) => {
        // It may be between two connections, two sessions, or two clients.
        if (!KeeperError.is(error)) this.#unexpected('addAuth', error)
      })
      this.#refresh(every)
    })
  }

  /** Does the tasks one after the other. */
  async #work(begun: Promise<void>, tasks: readonly Task[]): Promise<void> {
    await begun
    for (const task of tasks) {
      await this.#pause(task.after)
      const { semaphore } = this.#options
      if (semaphore !== undefined) await resizeFirst(this.#zk!, semaphore, task)
      const attempt = this.#options.recorder.newAttempt()
      this.#record({ type: 'attempted', attempt, client: this.#options.client, task })
      await this.#attempt(attempt, task)
      this.#record({ type: 'done', attempt })
    }
  }

  /** Does the steps of recipes that hold nothing. */
  async #step(): Promise<void> {
    const { client, runtime, recorder, plan } = this.#options
    await doSteps(this.#zk!, plan.steps ?? [], { client, runtime, recorder })
  }

  /** Reads a node, and again after every change of it, until the client is closed. */
  async #watch(): Promise<void> {
    let session: Session | undefined
    while (!this.#isClosed) {
      try {
        const read = await this.#zk!.getDataAndWatch(CONFIG)
        this.#watched = read
        const { version } = read.stat
        // A later session may be at a server that is behind; one session never goes back in time.
        const isBack = version < this.#seen && session === this.#zk!.session
        if (isBack) this.#unexpected('watch', `version ${version} was read after ${this.#seen}`)
        session = this.#zk!.session
        this.#seen = version
        await read.changed
      } catch (error) {
        if (!KeeperError.is(error)) this.#unexpected('watch', error)
      }
    }
  }

  async #attempt(attempt: number, task: Task): Promise<void> {
    const { signal, stop } = this.#abortAfter(task.abortAfter)
    const onQueued = ({ ahead }: QueuePlace) => this.#record({ type: 'queued', attempt, ahead })
    const options = { signal, onQueued, ...(task.timeout !== undefined && { timeout: task.timeout }) }
    try {
      switch (task.how) {
        case 'acquire':
          return await this.#acquired(attempt, task, await this.#acquire(task, options))
        case 'tryAcquire': {
          const held = await this.#acquirable(task).tryAcquire({ signal })
          if (held !== undefined) return await this.#acquired(attempt, task, held)
          return this.#record({ type: 'refused', attempt, why: 'busy' })
        }
        case 'run':
          return await this.#run(attempt, task, options)
        case 'terms':
          return await this.#leadOnce(attempt, task, signal)
      }
    } catch (error) {
      this.#record({ type: 'refused', attempt, why: refusal(error, signal), error: String(error) })
    } finally {
      stop()
    }
  }

  #acquire(task: Task, options: Parameters<Lock['acquire']>[0]): Promise<Held | WriteHeld> {
    const isElection = this.#options.recipe === 'LeaderElection'
    return isElection ? this.#election(task).campaign(options) : this.#acquirable(task).acquire(options)
  }

  /** `run` rejects when the lock was lost before its body settled, and only then. */
  async #run(attempt: number, task: Task, options: AcquireOptions): Promise<void> {
    let isLost = false
    const body = async (held: Held) => {
      await this.#hold(attempt, task, held)
      isLost = !held.isHeld()
    }
    try {
      await this.#acquirable(task).run(body, options)
      if (isLost) this.#unexpected('run', `attempt ${attempt} was lost, and its run resolved`)
    } catch (error) {
      const granted = this.#grants.get(attempt)
      if (granted === undefined || !LockLostError.is(error)) throw error
      if (granted.held.isHeld()) this.#unexpected('run', `attempt ${attempt} was not lost, and its run rejected`)
    }
    this.#released(attempt)
  }

  #election({ holdOptions, label = 0 }: Task): LeaderElection {
    return new LeaderElection(this.#zk!, PATH, { ...holdOptions, data: 'x'.repeat(label) })
  }

  #acquirable(task: Task): Acquirable<Held | WriteHeld> {
    const { kind, holdOptions, label = 0 } = task
    const lockOptions = { ...holdOptions, label: 'x'.repeat(label) }
    const { recipe, semaphore } = this.#options
    switch (recipe) {
      case 'Lock':
        return new Lock(this.#zk!, PATH, lockOptions)
      case 'SharedLock':
        return new SharedLock(this.#zk!, PATH, lockOptions)[kind === 'read' ? 'read' : 'write']
      case 'LeaderElection':
        throw new Error('an election is stood for, not acquired')
      case 'Counter':
      case 'Barrier':
      case 'DoubleBarrier':
        throw new Error(`a ${recipe} is not acquired`)
      case 'Semaphore':
        return permitsOf(semaphoreOf(this.#zk!, semaphore!, holdOptions), task)
      case 'MultiLock':
        return locksOf(this.#zk!, task, holdOptions)
    }
  }

  async #acquired(attempt: number, task: AttemptedTask, held: Held | WriteHeld): Promise<void> {
    await this.#hold(attempt, task, held)
    if (task.downgrade !== undefined && 'downgrade' in held) await this.#goOnAsReader(task.downgrade, task, held)
    else await this.#release(attempt, held)
    this.#ask(attempt, held)
  }

  async #goOnAsReader(hold: readonly number[], writer: AttemptedTask, held: WriteHeld): Promise<void> {
    const attempt = this.#options.recorder.newAttempt()
    const { downgrade: _, timeout: __, abortAfter: ___, ...rest } = writer
    const task: AttemptedTask = { ...rest, kind: 'read', how: 'downgrade', after: 0, hold }
    this.#record({ type: 'attempted', attempt, client: this.#options.client, task })
    try {
      await this.#acquired(attempt, task, await held.downgrade())
    } catch (error) {
      this.#record({ type: 'refused', attempt, why: 'error', error: String(error) })
    }
    this.#record({ type: 'done', attempt })
  }

  async #release(attempt: number, held: Held): Promise<void> {
    try {
      await held.release()
      this.#released(attempt)
    } catch (error) {
      // One that takes long goes on in the background.
      if (!KeeperError.is(error, 'RequestTimeout')) this.#unexpected('release', error)
      this.#released(attempt, String(error))
    }
  }

  async #leadOnce(attempt: number, task: Task, signal: AbortSignal): Promise<void> {
    for await (const leadership of this.#election(task).terms({ signal })) {
      await this.#hold(attempt, task, leadership)
      break
    }
    if (this.#grants.has(attempt)) this.#released(attempt)
    else this.#record({ type: 'refused', attempt, why: 'aborted' })
  }

  /** The work during a hold. Before each step it calls `isHeld`. */
  async #hold(attempt: number, task: AttemptedTask, held: Held): Promise<void> {
    const { path, fencingToken: fence } = held
    const { client } = this.#options
    this.#grants.set(attempt, { held, session: this.#zk!.session })
    const permits = 'permits' in held ? { permits: (held as SemaphoreHeld).permits } : {}
    this.#record({
      type: 'granted',
      attempt,
      client,
      kind: task.kind,
      path,
      fence,
      ...permits,
      ...(task.locks && nodesAndTokens(held)),
    })
    const lost = () => this.#record({ type: 'lost', attempt, reason: (held.signal.reason as LockLostError).reason })
    if (held.signal.aborted) lost()
    else held.signal.addEventListener('abort', lost, { once: true })
    this.#ask(attempt, held)
    for (const pause of task.hold) {
      await this.#pause(pause)
      if (!this.#ask(attempt, held)) return
      if (task.writes !== 'guarded') this.#options.writeOutside(attempt, task.kind, fence)
      if (task.writes !== 'fenced') await this.#writeGuarded(attempt, held)
    }
  }

  #released(attempt: number, error?: string): void {
    const isSessionOver = this.#grants.get(attempt)!.session.signal.aborted
    this.#record({ type: 'released', attempt, isSessionOver, ...(error !== undefined && { error }) })
  }

  #ask(attempt: number, held: Held): boolean {
    const isHeld = held.isHeld()
    this.#record({ type: 'asked', attempt, isHeld })
    return isHeld
  }

  async #writeGuarded(attempt: number, held: Held): Promise<void> {
    const entry = op.create(`${SET}/`, String(held.fencingToken), { mode: 'PERSISTENT_SEQUENTIAL' })
    try {
      const [created] = await held.multi([entry])
      this.#record({ type: 'guarded', attempt, entry: created.path })
    } catch (error) {
      if (!KeeperError.is(error) && !LockLostError.is(error)) this.#unexpected('held.multi', error)
      this.#record({ type: 'guarded', attempt, entry: undefined, error: String(error) })
    }
  }

  #abortAfter(delay: number | undefined): { signal: AbortSignal; stop: () => void } {
    const aborting = new AbortController()
    const stop =
      delay === undefined ? () => {} : this.#options.runtime.setTimer(delay, () => aborting.abort(new Error('aborted')))
    return { signal: aborting.signal, stop }
  }

  #pause(delay: number): Promise<void> {
    return new Promise((resolve) => {
      this.#options.runtime.setTimer(delay, resolve)
    })
  }

  #unexpected(what: string, error: unknown): void {
    this.#record({ type: 'unexpected', what: `${what}: ${String(error)}` })
  }

  #record(happening: Parameters<Recorder['add']>[0]): void {
    this.#options.recorder.add(happening)
  }
}

function refusal(error: unknown, signal: AbortSignal): Refusal {
  if (signal.aborted && error === signal.reason) return 'aborted'
  return LockTimeoutError.is(error) ? 'timeout' : 'error'
}
