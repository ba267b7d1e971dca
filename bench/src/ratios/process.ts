// The processes of a measurement. If `taskset` exists, client and server have a core each.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const isPinned = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0
/** The core of the client, and the core of the servers. */
export const CORES = isPinned ? { client: '0', server: '1' } : { client: undefined, server: undefined }

/** The command with which a runtime runs a file. */
const runtimes: Readonly<Record<string, readonly string[]>> = {
  node: [process.execPath, '--expose-gc'],
  deno: ['deno', 'run', '--allow-all', '--quiet'],
  bun: ['bun', 'run'],
}

export class Program {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>

  /** Runs a file in the folder of this one. */
  constructor(runtime: string, file: string, args: readonly string[], core: string | undefined) {
    const command = [...runtimes[runtime]!, fileURLToPath(new URL(file, import.meta.url)), ...args]
    const [program = '', ...rest] = core === undefined ? command : ['taskset', '--cpu-list', core, ...command]
    this.#child = spawn(program, rest, { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#lines = createInterface({ input: this.#child.stdout! })[Symbol.asyncIterator]()
  }

  /** The next line that the program prints; undefined if it has ended. */
  async line(): Promise<string | undefined> {
    const { done, value } = await this.#lines.next()
    return done === true ? undefined : value
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill()
    await once(this.#child, 'exit')
  }
}
