import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { type Duplex, PassThrough } from 'node:stream'
import { dockerClient } from '../ensemble/docker.ts'
import { patiently } from './patience.ts'

/** A program in a container that exchanges lines with us. Its first line is `pid` and its process id. */
export class Program {
  readonly name: string
  readonly #container: string
  readonly #stream: Duplex
  /** The output on stderr. */
  #errors = ''
  /** Lines that came before `onLine` was called: the second line may come together with the first. */
  readonly #unread: string[] = []
  #onLine: (line: string) => void = (line) => this.#unread.push(line)
  readonly #pid: Promise<string>
  /** Resolves when the program has ended, with a text that says how. */
  readonly ended: Promise<string>

  static async start(container: string, name: string, command: readonly string[]): Promise<Program> {
    const { dockerode } = (await dockerClient()).container
    const streams = { AttachStdin: true, AttachStdout: true, AttachStderr: true }
    const exec = await dockerode.getContainer(container).exec({ Cmd: [...command], ...streams })
    const stream = await exec.start({ hijack: true, stdin: true })
    const exitCode = async (): Promise<number | null> => (await exec.inspect()).ExitCode
    const [stdout, stderr] = [new PassThrough(), new PassThrough()]
    dockerode.modem.demuxStream(stream, stdout, stderr)
    const program = new Program(container, name, stream, stdout, stderr, exitCode)
    await patiently(program.#pid, () => `${program.describe()} starts`)
    return program
  }

  private constructor(
    container: string,
    name: string,
    stream: Duplex,
    stdout: PassThrough,
    stderr: PassThrough,
    exitCode: () => Promise<number | null>,
  ) {
    this.#container = container
    this.name = name
    this.#stream = stream
    stderr.on('data', (chunk: Buffer) => (this.#errors += chunk.toString()))
    const lines = createInterface({ input: stdout })
    this.#pid = once(lines, 'line').then(([line]) => String(line).replace('pid ', ''))
    lines.once('line', () => lines.on('line', (line) => this.#onLine(line)))
    this.ended = once(stream, 'end').then(async () => `${this.describe()} has ended with ${await exitCode()}`)
  }

  /** Calls `listener` for every line after the first, including lines that have already come. Call this only once. */
  onLine(listener: (line: string) => void): void {
    this.#onLine = listener
    for (const line of this.#unread.splice(0)) listener(line)
  }

  write(line: string): void {
    if (this.#stream.writable) this.#stream.write(`${line}\n`)
  }

  /** Ends the input of the program, which makes it exit. */
  async end(): Promise<void> {
    this.#stream.end()
    await this.ended
  }

  /** Stops the program, as a long garbage collection does. Its connections stay open. */
  stop(): Promise<void> {
    return this.#signal('STOP')
  }

  goOn(): Promise<void> {
    return this.#signal('CONT')
  }

  describe(): string {
    return this.#errors === '' ? this.name : `${this.name} (which complained: ${this.#errors.trim()})`
  }

  async #signal(signal: string): Promise<void> {
    const { container } = await dockerClient()
    // A negative number signals the process group of the program, which includes its child processes.
    const command = ['kill', `-${signal}`, `-${await this.#pid}`]
    const { output, exitCode } = await container.exec(container.getById(this.#container), command)
    if (exitCode !== 0) throw new Error(`${this.name}: kill -${signal}: ${output}`)
  }
}
