import type { EnsembleDescription, NodeDescription } from './description.ts'
import { dockerClient } from './docker.ts'
import { ask, type AskOptions, parseSrvr, type ServerMode, type ServerStatus } from '@zk/conform/internal'
import type { FourLetterWord } from '@zk/testing'

type Client = Awaited<ReturnType<typeof dockerClient>>
type Container = ReturnType<Client['container']['getById']>
type Network = ReturnType<Client['network']['getById']>

/** How long each check waits, when it is repeated until a node serves. */
const GLANCE = { timeout: 1_000 }
/** The exit codes after SIGKILL and SIGTERM. */
const ENDED_BY_SIGNAL: readonly number[] = [128 + 9, 128 + 15]
/** How many lines at the end of a log are searched for an error: more than a busy server writes in a minute. */
const SEARCHED_LINES = 5_000

/** One server, and the faults that can be injected into it. */
export class EnsembleNode {
  /** `myid`, from 1. */
  readonly id: number
  readonly host: string
  /** The client port. No fault changes it. */
  readonly port: number
  readonly #peerAddress: string
  readonly #containerId: string
  readonly #networkName: string

  constructor(ensemble: EnsembleDescription, node: NodeDescription) {
    this.id = node.id
    this.host = ensemble.host
    this.port = node.port
    this.#peerAddress = node.peerAddress
    this.#containerId = node.container
    this.#networkName = ensemble.network
  }

  /** Host and port for clients. */
  get address(): string {
    return `${this.host}:${this.port}`
  }

  /** The answer to a four-letter word; `''` if the node does not answer. */
  ask(word: FourLetterWord, options: Pick<AskOptions, 'timeout'> = {}): Promise<string> {
    return ask(this.port, word, { ...options, host: this.host })
  }

  /** undefined while the node does not serve. For some seconds after a fault, the mode is what the node still believes. */
  async mode(): Promise<ServerMode | undefined> {
    return (await this.status())?.mode
  }

  /** undefined while the node does not serve. */
  async status(): Promise<ServerStatus | undefined> {
    return parseSrvr(await this.ask('srvr', GLANCE))
  }

  /** Sends SIGKILL. */
  async kill(): Promise<void> {
    const container = await this.#container()
    await container.kill()
    // The engine answers before it has noticed the end. Until then it takes a start for one too many, and starts nothing.
    await container.wait()
  }

  /** Sends SIGTERM, and SIGKILL if the node has not ended after 10 seconds. */
  async stop(): Promise<void> {
    await (await this.#container()).stop({ t: 10 })
  }

  /** Starts the node again, with the same data and client port. Rejects if it has failed: a restart must not hide that. */
  async start(): Promise<void> {
    const failure = await this.failure()
    if (failure !== undefined) throw new Error(failure)
    await (await this.#container()).start()
  }

  /**
   * A failure that was not injected: the server has ended without a signal, or has run out of memory. The text contains the
   * last lines of the log. (A test that makes the server end by itself looks the same.)
   *
   * Ignores log lines before `since`, in ms.
   */
  async failure(since = 0): Promise<string | undefined> {
    const { State } = await (await this.#container()).inspect()
    const hasEnded = State.Status === 'exited' && (State.OOMKilled || !ENDED_BY_SIGNAL.includes(State.ExitCode))
    const what = hasEnded ? `has ended by itself at ${State.FinishedAt}, with ${State.ExitCode}` : undefined
    const outOfMemory = /^.*java\.lang\.OutOfMemoryError.*$/m.exec(await this.#log(SEARCHED_LINES, since))?.[0]
    const why = what ?? (outOfMemory === undefined ? undefined : `had no memory left: ${outOfMemory}`)
    return why === undefined ? undefined : `zk${this.id} at ${this.address} ${why}${await this.#lastLogLines()}`
  }

  /** Freezes the node: its ports still accept connections, but it does not answer. */
  async pause(): Promise<void> {
    await (await this.#container()).pause()
  }

  async unpause(): Promise<void> {
    await (await this.#container()).unpause()
  }

  /** Disconnects it from the peers' network. Clients still reach it. */
  async cutFromPeers(): Promise<void> {
    await (await this.#network()).disconnect({ Container: this.#containerId, Force: true })
  }

  async rejoinPeers(): Promise<void> {
    const EndpointConfig = { IPAMConfig: { IPv4Address: this.#peerAddress } }
    await (await this.#network()).connect({ Container: this.#containerId, EndpointConfig })
  }

  /** Drops packets from this node to that one, but not in the other direction. Lasts until this node starts again. */
  async blackhole(peer: EnsembleNode): Promise<void> {
    await this.#exec('ip', 'route', 'add', 'blackhole', `${peer.#peerAddress}/32`)
  }

  /** Undoes all faults of this class. Does not wait until the node serves. */
  async mend(): Promise<void> {
    const { State, NetworkSettings } = await (await this.#container()).inspect()
    if (State.Paused) await this.unpause()
    if (NetworkSettings.Networks[this.#networkName] === undefined) await this.rejoinPeers()
    if (!State.Running) return this.start()

    for (const route of (await this.#exec('ip', 'route')).matchAll(/^blackhole (\S+)/gm)) {
      await this.#exec('ip', 'route', 'del', 'blackhole', route[1] ?? '')
    }
  }

  /** The state of the container and the answer of the server, in a few lines for an error message. */
  async describe(): Promise<string> {
    const { State } = await (await this.#container()).inspect()
    const answer = (await this.ask('srvr', GLANCE)).trim()
    const status = parseSrvr(answer)
    const says = status === undefined ? answer || 'no answer' : `${status.mode}, epoch ${status.epoch}`
    const log = status === undefined ? await this.#lastLogLines() : ''
    const container = State.Status === 'exited' ? `exited with ${State.ExitCode}` : State.Status
    return `zk${this.id} at ${this.address}: container ${container}; srvr: ${says}${log}`
  }

  async #lastLogLines(): Promise<string> {
    const lines = (await this.#log(40)).split('\n')
    // Stack traces are too long for an error message.
    const messages = lines.filter((line) => line !== '' && !line.startsWith('\t'))
    return messages
      .slice(-5)
      .map((line) => `\n    | ${line}`)
      .join('')
  }

  async #log(lines: number, since = 0): Promise<string> {
    const container = await this.#container()
    const frames = await container.logs({ stdout: true, stderr: true, tail: lines, since: Math.floor(since / 1_000) })
    // Each line follows a binary header of eight bytes.
    return frames
      .toString()
      .split('\n')
      .map((line) => line.slice(8))
      .join('\n')
  }

  async #exec(...command: string[]): Promise<string> {
    const { container } = await dockerClient()
    const { output, exitCode } = await container.exec(await this.#container(), command, { user: 'root' })
    if (exitCode === 0) return output
    throw new Error(`zk${this.id}: ${command.join(' ')} ended with ${exitCode}: ${output.trim()}`)
  }

  async #container(): Promise<Container> {
    return (await dockerClient()).container.getById(this.#containerId)
  }

  async #network(): Promise<Network> {
    return (await dockerClient()).network.getById(this.#networkName)
  }
}
