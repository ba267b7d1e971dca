// Servers that others have started: given by their addresses, perhaps with commands that kill and start them.
import { type Runtime, systemRuntime } from '@zk/client'
import type { ServerAddress } from '@zk/wire'
import {
  addressSeenBy,
  ask,
  NO_COMMAND,
  parseSrvr,
  type Place,
  places,
  type Stage,
  type Target,
} from '../play/index.ts'

/** What an operator can do to the server with this number, counted from 1 in the order of the addresses. */
export interface ServerControl {
  /** Ends it at once. */
  kill(server: number): Promise<void>
  /** Starts it after `kill`. */
  start(server: number): Promise<void>
  /** Freezes it: its ports still accept connections, but it does not answer. */
  pause(server: number): Promise<void>
  /** Lets it go on after `pause`. */
  resume(server: number): Promise<void>
}

/** Where the servers are, and what is known about them. */
export interface ServerTargetOptions {
  /** At least one. With one address, all sessions are opened there. */
  servers: readonly ServerAddress[]
  /** The node below which everything is created, such as `/tests`. @default the root */
  base?: string | undefined
  /** Name and password of the superuser, such as `super:secret`. @default unknown */
  superUser?: string | undefined
  /** Name and password of a user in the JAAS configuration of the servers, such as `bob:secret`. @default none, or unknown */
  saslUser?: string | undefined
  /** @default none: faults cannot be played */
  control?: ServerControl | undefined
  /** @default those of this machine */
  runtime?: Runtime | undefined
}

/** How often it is checked whether the servers have elected a leader, in ms. */
const CHECK_INTERVAL = 50

/** Servers that others have started. They may have other users: everything is created below one node. */
export class ServerTarget implements Target {
  readonly #options: ServerTargetOptions
  #clientAddress: Promise<string | undefined> | undefined

  constructor(options: ServerTargetOptions) {
    this.#options = options
  }

  /** Looks for the leader first, if there are several servers. */
  async use<Result>(play: (stage: Stage) => Promise<Result>): Promise<Result> {
    const { servers, runtime = systemRuntime } = this.#options
    const [first] = servers
    if (first === undefined) throw new TypeError('a ServerTarget needs at least one server')
    this.#clientAddress ??= addressSeenBy(first, runtime)
    const stage = new ServerStage(this.#options, await byRole(servers, runtime), this.#clientAddress)
    return play(stage)
  }
}

class ServerStage implements Stage {
  readonly runtime: Runtime
  readonly base: string
  readonly superUser: string | undefined
  readonly saslUser: string | undefined
  readonly #control: ServerControl | undefined
  readonly #servers: readonly ServerAddress[]
  /** The servers, in the order of `places`. */
  readonly #ordered: readonly ServerAddress[]
  readonly #clientAddress: Promise<string | undefined>
  /** The servers that have a fault, and what undoes it. */
  readonly #harmed = new Map<ServerAddress, () => Promise<void>>()

  constructor(
    options: ServerTargetOptions,
    ordered: readonly ServerAddress[],
    clientAddress: Promise<string | undefined>,
  ) {
    this.runtime = options.runtime ?? systemRuntime
    this.base = options.base ?? ''
    this.superUser = options.superUser
    this.saslUser = options.saslUser
    this.#control = options.control
    this.#servers = options.servers
    this.#ordered = ordered
    this.#clientAddress = clientAddress
  }

  clientAddress(): Promise<string | undefined> {
    return this.#clientAddress
  }

  /** With fewer servers than places, the last one has several places. */
  address(place: Place): ServerAddress {
    return this.#ordered[Math.min(places.indexOf(place), this.#ordered.length - 1)]!
  }

  kill(place: Place): Promise<void> {
    return this.#harm(place, 'kill', 'start')
  }

  restart(place: Place): Promise<void> {
    return this.#undo(this.address(place))
  }

  freeze(place: Place): Promise<void> {
    return this.#harm(place, 'pause', 'resume')
  }

  thaw(place: Place): Promise<void> {
    return this.#undo(this.address(place))
  }

  async elected(): Promise<void> {
    while (!(await this.#roles()).some((mode) => mode === 'leader' || mode === 'standalone')) await this.#pause()
  }

  async mended(): Promise<void> {
    if (this.#harmed.size === 0) return
    for (const address of this.#harmed.keys()) await this.#undo(address)
    while ((await this.#roles()).some((mode) => mode === undefined)) await this.#pause()
  }

  async #harm(place: Place, harm: 'kill' | 'pause', undo: 'start' | 'resume'): Promise<void> {
    const control = this.#control
    if (control === undefined) throw new Error(`${NO_COMMAND}${harm} a server`)
    const address = this.address(place)
    const number = this.#servers.indexOf(address) + 1
    this.#harmed.set(address, () => control[undo](number))
    await control[harm](number)
  }

  async #undo(address: ServerAddress): Promise<void> {
    const undo = this.#harmed.get(address)
    this.#harmed.delete(address)
    await undo?.()
  }

  #roles(): Promise<readonly (string | undefined)[]> {
    return Promise.all(this.#servers.map((server) => roleOf(server, this.runtime)))
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.runtime.setTimer(CHECK_INTERVAL, resolve))
  }
}

/** The leader first. If the servers do not answer `srvr`, the order stays. */
async function byRole(servers: readonly ServerAddress[], runtime: Runtime): Promise<readonly ServerAddress[]> {
  if (servers.length === 1) return servers
  const roles = await Promise.all(servers.map((server) => roleOf(server, runtime)))
  const isLeader = (server: ServerAddress): boolean => roles[servers.indexOf(server)] === 'leader'
  return servers.toSorted((one, other) => Number(isLeader(other)) - Number(isLeader(one)))
}

async function roleOf({ host, port }: ServerAddress, runtime: Runtime): Promise<string | undefined> {
  return parseSrvr(await ask(port, 'srvr', { host, runtime, timeout: 1_000 }))?.mode
}
