// The contending processes. They are started, stopped for a while, killed and replaced.
import { join } from 'node:path'
import type { Random } from '../random.ts'
import { readLatest } from '../history/index.ts'
import { startWorker, type Worker } from '../workers/start.ts'
import type { Recipe } from './recipe.ts'
import { RECIPES } from './recipes/index.ts'
import { pause, type Range, type OnFault } from './server-faults.ts'

export type ClientFault = 'SIGSTOP a client' | 'SIGKILL a client'
/** Each contender of a process is to end a turn, and then perhaps all are to stop. The answer lists those that are late. */
export type Order = 'go on' | 'stop'

/** The time between two calls of `addAuth`, in ms: there are several in a session timeout, even in the shortest one. */
const ADD_AUTH: Range = { least: 100, most: 400 }

export interface CrowdOptions {
  readonly connectString: string
  readonly path: string
  /** The folder of the history. */
  readonly log: string
  readonly processes: number
  readonly sessionTimeout: Range
  /** The longest usual turn, in ms. */
  readonly turn: number
}

interface Member {
  readonly worker: Worker
  readonly sessionTimeout: number
  readonly slot: number
  readonly generation: number
  /** The contenders that have not ended a turn since the last order; undefined before its answer. */
  late: readonly string[] | undefined
}

export class Crowd {
  /** The exit codes of processes that ended without an order to end. */
  readonly failures: string[] = []
  readonly #options: CrowdOptions
  readonly #random: Random
  readonly #members: Member[]
  #onProgress = () => {}

  constructor(options: CrowdOptions, random: Random) {
    this.#options = options
    this.#random = random
    this.#members = Array.from({ length: options.processes }, (_, slot) => this.#start(slot, 0))
  }

  /** Runs until `stop` is aborted; then no process is stopped any more. Returns the faults that were injected. */
  async harm(stop: AbortSignal, onFault: OnFault): Promise<ClientFault[]> {
    const random = this.#random
    const done: ClientFault[] = []
    while (!stop.aborted) {
      const any = random.below(this.#members.length)
      const recipe = random.pick(RECIPES)
      const isAimed = random.percent(70)
      const isKilled = random.percent(35)
      // From a pause without effect to a pause that no session survives.
      const share = random.below(300) / 100
      await pause(500 + random.below(2_500), stop)
      if (stop.aborted) break
      const index = (isAimed ? this.#weakest(recipe) : undefined) ?? any
      const { worker, sessionTimeout } = this.#members[index]!
      done.push(isKilled ? 'SIGKILL a client' : 'SIGSTOP a client')
      if (isKilled) {
        onFault(`process ${worker.name}: SIGKILL`)
        await this.#kill(index)
      } else {
        const time = share * sessionTimeout
        onFault(`process ${worker.name}: SIGSTOP for ${time.toFixed(0)} ms, T is ${sessionTimeout} ms`)
        worker.process.kill('SIGSTOP')
        await pause(time, stop)
        worker.process.kill('SIGCONT')
      }
    }
    return done
  }

  /** Waits until every contender has ended a turn. Returns those that have not within `within` ms. */
  async goOn(within: number): Promise<string[]> {
    const late = new AbortController()
    const progress = new Promise<void>((resolve) => {
      this.#onProgress = () => {
        if (this.#members.every((member) => member.late?.length === 0)) resolve()
      }
    })
    this.#order('go on')
    await Promise.race([progress, pause(within, late.signal)])
    late.abort()
    return this.#members.flatMap(lateOf)
  }

  /** Ends the turns of all processes. Kills those that have not ended within `within` ms, and returns who is late. */
  async finish(within: number): Promise<string[]> {
    const late = new AbortController()
    this.#order('stop')
    const exits = Promise.all(this.#members.map(({ worker }) => worker.exited))
    await Promise.race([exits, pause(within, late.signal)])
    late.abort()
    const stuck = this.#members.filter(({ worker }) => isRunning(worker)).flatMap(lateOf)
    this.kill()
    await exits
    return stuck
  }

  kill(): void {
    for (const { worker } of this.#members) worker.process.kill('SIGKILL')
  }

  #order(order: Order): void {
    for (const member of this.#members) {
      member.late = undefined
      if (member.worker.process.connected) member.worker.process.send(order)
    }
  }

  /** The process that is in the middle of a turn according to the newest notes of the log. */
  #weakest({ name, weakAfter }: Recipe): number | undefined {
    const last = readLatest(join(this.#options.log, `${name}.jsonl`)).findLast(({ what }) => what === weakAfter)
    const index = this.#members.findIndex(({ worker }) => last?.contender.startsWith(`${worker.name} `))
    return index === -1 ? undefined : index
  }

  async #kill(index: number): Promise<void> {
    const { worker, slot, generation } = this.#members[index]!
    worker.process.kill('SIGKILL')
    await worker.exited
    this.#members[index] = this.#start(slot, generation + 1)
  }

  #start(slot: number, generation: number): Member {
    const { least, most } = this.#options.sessionTimeout
    const sessionTimeout = least + this.#random.below(most - least + 1)
    // About half of the processes send packets that do not touch the session.
    const between = ADD_AUTH.least + this.#random.below(ADD_AUTH.most - ADD_AUTH.least + 1)
    const addAuthEvery = this.#random.percent(50) ? between : undefined
    const { connectString, path, log, turn } = this.#options
    const name = `${slot}.${generation}`
    const settings = { connectString, path, log, turn, name, sessionTimeout }
    const traffic = addAuthEvery === undefined ? {} : { addAuthEvery }
    const worker = startWorker('chaos', { ...settings, ...traffic, slot, generation })
    void worker.exited.then((code) => {
      if (code !== 0 && code !== null) this.failures.push(`process ${name} ended with ${code}`)
    })
    const member: Member = { worker, sessionTimeout, slot, generation, late: undefined }
    worker.process.on('message', (late: readonly string[]) => {
      member.late = late
      this.#onProgress()
    })
    return member
  }
}

function isRunning({ process: { exitCode, signalCode } }: Worker): boolean {
  return exitCode === null && signalCode === null
}

function lateOf({ worker, late }: Member): string[] {
  return (late ?? ['all']).map((contender) => `${worker.name} ${contender}`)
}
