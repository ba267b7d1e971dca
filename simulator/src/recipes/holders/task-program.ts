// The program of a client that acquires, holds and releases.
import { KeeperError, op, type Session, type ZooKeeper } from '@zk/client'
import {
  type Acquirable,
  type AcquireOptions,
  type Held,
  LostError,
  WaitTimeoutError,
  type QueuePlace,
  type WriteHeld,
} from '@zk/recipes'
import { Random } from '@zk/testing/internal'
import type { AttemptedTask, Happening, Refusal } from '../../history/history.ts'
import { abortedAfter } from '../../play/aborted-after.ts'
import type { PlayContext, PlayedClient } from '../../play/participant.ts'
import { SET } from '../../play/paths.ts'
import { Program } from '../../play/program.ts'
import type { HoldKind } from '../../scenario/hold-kind.ts'
import type { Scenario, Task } from '../../scenario/scenario.ts'

/** What a task acquires. Elections have terms. */
type Lockable = Acquirable<Held | WriteHeld>
export interface Acquired extends Pick<Lockable, 'acquire'>, Partial<Pick<Lockable, 'tryAcquire' | 'run'>> {
  terms?(options: { readonly signal: AbortSignal }): AsyncIterable<Held>
}

/** How the tasks of a recipe are done. */
export interface Holding<More extends Task = Task> {
  /** Each task has an object of its own. */
  acquirable(zk: ZooKeeper, task: More, scenario: Scenario): Acquired
  /** Done before each task. */
  before?(zk: ZooKeeper, task: More, scenario: Scenario): Promise<void>
  /** What a grant has besides. */
  details?(held: Held): Partial<Extract<Happening, { type: 'granted' }>>
}

export class TaskProgram extends Program {
  readonly #recipe: Holding
  readonly #grants = new Map<number, { readonly held: Held; readonly session: Session }>()
  readonly #underWay: Random

  constructor(client: PlayedClient, context: PlayContext, recipe: Holding) {
    super(client, context)
    this.#recipe = recipe
    this.#underWay = new Random(client.scenario.seed, `outside ${client.client}`)
  }

  override askAll(): void {
    for (const [attempt, { held }] of this.#grants) this.#ask(attempt, held)
  }

  protected override work(begun: Promise<void>): readonly Promise<void>[] {
    return this.plan.workers.map((tasks) => this.#work(begun, tasks))
  }

  /** Does the tasks one after the other. */
  async #work(begun: Promise<void>, tasks: readonly Task[]): Promise<void> {
    await begun
    for (const task of tasks) {
      await this.pause(task.after)
      if (this.#recipe.before !== undefined) await this.#recipe.before(this.zk!, task, this.scenario)
      const attempt = this.recorder.newAttempt()
      this.recorder.add({ type: 'attempted', attempt, client: this.client, task })
      await this.#attempt(attempt, task)
      this.recorder.add({ type: 'done', attempt })
    }
  }

  #acquirable(task: Task): Acquired {
    return this.#recipe.acquirable(this.zk!, task, this.scenario)
  }

  async #attempt(attempt: number, task: Task): Promise<void> {
    const { signal, stop } = abortedAfter(this.runtime, task.abortAfter)
    const onQueued = ({ ahead }: QueuePlace) => this.recorder.add({ type: 'queued', attempt, ahead })
    const options = { signal, onQueued, ...(task.timeout !== undefined && { timeout: task.timeout }) }
    try {
      switch (task.how) {
        case 'acquire':
          return await this.#acquired(attempt, task, await this.#acquirable(task).acquire(options))
        case 'tryAcquire': {
          const held = await this.#acquirable(task).tryAcquire!({ signal })
          if (held !== undefined) return await this.#acquired(attempt, task, held)
          return this.recorder.add({ type: 'refused', attempt, why: 'busy' })
        }
        case 'run':
          return await this.#run(attempt, task, options)
        case 'terms':
          return await this.#leadOnce(attempt, task, signal)
      }
    } catch (error) {
      this.recorder.add({ type: 'refused', attempt, why: refusal(error, signal), error: String(error) })
    } finally {
      stop()
    }
  }

  /** `run` rejects when the lock was lost before its body settled, and only then. */
  async #run(attempt: number, task: Task, options: AcquireOptions): Promise<void> {
    let isLost = false
    const body = async (held: Held) => {
      await this.#hold(attempt, task, held)
      isLost = !held.isHeld()
    }
    try {
      await this.#acquirable(task).run!(body, options)
      if (isLost) this.unexpected('run', `attempt ${attempt} was lost, and its run resolved`)
    } catch (error) {
      const granted = this.#grants.get(attempt)
      if (granted === undefined || !LostError.is(error)) throw error
      if (granted.held.isHeld()) this.unexpected('run', `attempt ${attempt} was not lost, and its run rejected`)
    }
    this.#released(attempt)
  }

  async #acquired(attempt: number, task: AttemptedTask, held: Held | WriteHeld): Promise<void> {
    await this.#hold(attempt, task, held)
    if (task.downgrade !== undefined && 'downgrade' in held) await this.#goOnAsReader(task.downgrade, task, held)
    else await this.#release(attempt, held)
    this.#ask(attempt, held)
  }

  async #goOnAsReader(hold: readonly number[], writer: AttemptedTask, held: WriteHeld): Promise<void> {
    const attempt = this.recorder.newAttempt()
    const { downgrade: _, timeout: __, abortAfter: ___, ...rest } = writer
    const task: AttemptedTask = { ...rest, kind: 'read', how: 'downgrade', after: 0, hold }
    this.recorder.add({ type: 'attempted', attempt, client: this.client, task })
    try {
      await this.#acquired(attempt, task, await held.downgrade())
    } catch (error) {
      this.recorder.add({ type: 'refused', attempt, why: 'error', error: String(error) })
    }
    this.recorder.add({ type: 'done', attempt })
  }

  async #release(attempt: number, held: Held): Promise<void> {
    try {
      await held.release()
      this.#released(attempt)
    } catch (error) {
      // One that takes long goes on in the background.
      if (!KeeperError.is(error, 'RequestTimeout')) this.unexpected('release', error)
      this.#released(attempt, String(error))
    }
  }

  async #leadOnce(attempt: number, task: Task, signal: AbortSignal): Promise<void> {
    for await (const leadership of this.#acquirable(task).terms!({ signal })) {
      await this.#hold(attempt, task, leadership)
      break
    }
    if (this.#grants.has(attempt)) this.#released(attempt)
    else this.recorder.add({ type: 'refused', attempt, why: 'aborted' })
  }

  /** The work during a hold. Before each step it calls `isHeld`. */
  async #hold(attempt: number, task: AttemptedTask, held: Held): Promise<void> {
    const { path, fencingToken: fence } = held
    const { client } = this
    this.#grants.set(attempt, { held, session: this.zk!.session })
    const grant = { type: 'granted', attempt, client, kind: task.kind, path, fence } as const
    this.recorder.add({ ...grant, ...this.#recipe.details?.(held) })
    const lost = () => this.recorder.add({ type: 'lost', attempt, reason: (held.signal.reason as LostError).code })
    if (held.signal.aborted) lost()
    else held.signal.addEventListener('abort', lost, { once: true })
    this.#ask(attempt, held)
    for (const pause of task.hold) {
      await this.pause(pause)
      if (!this.#ask(attempt, held)) return
      if (task.writes !== 'guarded') this.#writeOutside(attempt, task.kind, fence)
      if (task.writes !== 'fenced') await this.#writeGuarded(attempt, held)
    }
  }

  #released(attempt: number, error?: string): void {
    const isSessionOver = this.#grants.get(attempt)!.session.signal.aborted
    this.recorder.add({ type: 'released', attempt, isSessionOver, ...(error !== undefined && { error }) })
  }

  #ask(attempt: number, held: Held): boolean {
    const isHeld = held.isHeld()
    this.recorder.add({ type: 'asked', attempt, isHeld })
    return isHeld
  }

  async #writeGuarded(attempt: number, held: Held): Promise<void> {
    const entry = op.create(`${SET}/`, String(held.fencingToken), { mode: 'PERSISTENT_SEQUENTIAL' })
    try {
      const [created] = await held.multi([entry])
      this.recorder.add({ type: 'guarded', attempt, entry: created.path })
    } catch (error) {
      if (!KeeperError.is(error) && !LostError.is(error)) this.unexpected('held.multi', error)
      this.recorder.add({ type: 'guarded', attempt, entry: undefined, error: String(error) })
    }
  }

  /** Writes to the resource that checks fences. The write takes a while to arrive. */
  #writeOutside(attempt: number, kind: HoldKind, fence: bigint): void {
    const { world, resource } = this.context
    world.after(this.#underWay.below(this.scenario.network.latency * 4 + 1), () => {
      this.recorder.add({ type: 'fenced', attempt, kind, fence, isAccepted: resource.serve(kind, fence) })
    })
  }
}

function refusal(error: unknown, signal: AbortSignal): Refusal {
  if (signal.aborted && error === signal.reason) return 'aborted'
  return WaitTimeoutError.is(error) ? 'timeout' : 'error'
}
