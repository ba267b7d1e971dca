// The program that is judged, with all processes that it starts: they are one group, and end together.
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Ask, Asked } from '../client/exercise.ts'
import { UsageError } from './usage.ts'

/** How long it may take to end after SIGTERM, in ms. */
const END_WITHIN = 5_000

export class Program {
  /** Settles when it has ended. */
  readonly ended: Promise<void>
  readonly #child: ChildProcess
  #end: string | undefined

  /** Rejects with a UsageError if the command cannot be run. What it prints goes to standard error. */
  static start(command: readonly string[], isAdapter: boolean): Promise<Program> {
    const [file = '', ...args] = command
    const pipe = isAdapter ? 'pipe' : 'ignore'
    const child = spawn(file, args, { detached: true, stdio: [pipe, isAdapter ? 'pipe' : 2, 2] })
    return new Promise((resolve, reject) => {
      child.once('error', (error) => reject(new UsageError(`${file} cannot be run: ${error.message}`)))
      child.once('spawn', () => resolve(new Program(child)))
    })
  }

  private constructor(child: ChildProcess) {
    this.#child = child
    this.ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#end = signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`
        resolve()
      })
    })
    child.on('error', () => {})
    child.stdin?.on('error', () => {})
  }

  /** How it has ended, as the rest of a sentence; undefined while it runs. */
  get end(): string | undefined {
    return this.#end
  }

  send(line: string): void {
    this.#child.stdin?.write(`${line}\n`)
  }

  onLine(listener: (line: string) => void): void {
    if (this.#child.stdout) createInterface({ input: this.#child.stdout }).on('line', listener)
  }

  /** SIGTERM, and SIGKILL if it ignores that; then nothing of the group is left. */
  async stop(): Promise<void> {
    this.#signal('SIGTERM')
    const timer = setTimeout(() => this.#signal('SIGKILL'), END_WITHIN)
    await this.ended
    clearTimeout(timer)
    this.#signal('SIGKILL')
  }

  #signal(name: NodeJS.Signals): void {
    try {
      process.kill(-this.#child.pid!, name)
    } catch {
      // Nothing of the group is left.
    }
  }
}

interface Waiting {
  readonly ask: Ask
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** A program that does what it is asked, in lines of JSON. */
export class Adapter {
  /** What is wrong with it. */
  failure: Error | undefined
  readonly #program: Program
  readonly #waiting = new Map<number, Waiting>()
  #asked = 0

  constructor(program: Program) {
    this.#program = program
    program.onLine((line) => this.#read(line))
    void program.ended.then(() => this.#fail(new Error(`the adapter ${program.end}`)))
  }

  readonly ask: Asked = (ask: Ask) =>
    new Promise<void>((resolve, reject) => {
      if (this.failure !== undefined) return reject(this.failure)
      const id = ++this.#asked
      this.#waiting.set(id, { ask, resolve, reject })
      this.#program.send(JSON.stringify({ id, ...ask }))
    })

  /** What it was asked first, and has not answered. */
  get open(): string | undefined {
    const [first] = this.#waiting
    return first && JSON.stringify({ id: first[0], ...first[1].ask })
  }

  #read(line: string): void {
    if (line.trim() === '') return
    let answer: unknown
    try {
      answer = JSON.parse(line)
    } catch {
      return this.#fail(new Error(`the adapter printed a line that is not JSON: ${line.slice(0, 200)}`))
    }
    const { id, error } = (answer ?? {}) as { readonly id?: unknown; readonly error?: unknown }
    if (typeof id !== 'number') return
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) {
      const why = id >= 1 && id <= this.#asked ? 'twice' : 'and was not asked'
      return this.#fail(new Error(`the adapter answered ${id} ${why}`))
    }
    this.#waiting.delete(id)
    if (error === undefined || error === null) waiting.resolve()
    else {
      const text = typeof error === 'string' ? error : JSON.stringify(error)
      waiting.reject(new Error(`the adapter answered ${JSON.stringify({ id, ...waiting.ask })} with the error ${text}`))
    }
  }

  #fail(error: Error): void {
    this.failure ??= error
    for (const { reject } of this.#waiting.values()) reject(this.failure)
    this.#waiting.clear()
  }
}
