// A worker thread that plays seeds, and its supervision.
import { Worker } from 'node:worker_threads'
import { CurrentSeed, type Job, type JobReport } from './job.ts'

/** How often the progress of a worker is checked, in ms. */
const LOOK_EVERY = 500

/** A seed takes too long: it counts as endless. */
export class EndlessSeed extends Error {
  readonly seed: number

  constructor(seed: number, ms: number) {
    super(`seed ${seed} came to no end within ${ms / 1_000} s`)
    this.seed = seed
  }
}

export class SeedWorker {
  readonly #current = new CurrentSeed()
  readonly #worker: Worker
  readonly #longest: number

  /** `longest` is how long one seed may take, in ms of real time. */
  constructor(program: URL, longest: number) {
    this.#worker = new Worker(program, { workerData: this.#current.memory })
    this.#longest = longest
  }

  /** Rejects with `EndlessSeed`, or when the worker fails. It must not be called again then. */
  run(job: Job): Promise<JobReport> {
    this.#current.value = job.from
    const worker = this.#worker
    return new Promise((resolve, reject) => {
      const watch = this.#watch((seed) => settle(() => reject(new EndlessSeed(seed, this.#longest))))
      const settle = (act: () => void) => {
        clearInterval(watch)
        worker.off('message', answered)
        worker.off('error', failed)
        worker.off('exit', ended)
        act()
      }
      const answered = (report: JobReport) => settle(() => resolve(report))
      const failed = (error: Error) =>
        settle(() => reject(new Error(`a worker failed at seed ${this.#current.value}`, { cause: error })))
      const ended = (code: number) => failed(new Error(`it ended with ${code}`))
      worker.on('message', answered)
      worker.on('error', failed)
      worker.on('exit', ended)
      worker.postMessage(job)
    })
  }

  async end(): Promise<void> {
    await this.#worker.terminate()
  }

  #watch(onEndless: (seed: number) => void): NodeJS.Timeout {
    let seed = this.#current.value
    let since = performance.now()
    return setInterval(() => {
      if (this.#current.value !== seed) {
        seed = this.#current.value
        since = performance.now()
      } else if (performance.now() - since > this.#longest) onEndless(seed)
    }, LOOK_EVERY)
  }
}
