import { randomUUID } from 'node:crypto'
import { dockerClient } from '../ensemble/docker.ts'
import { ensureClientsImage } from '../ensemble/image.ts'
import { labelsOf, startSweeper } from '../ensemble/owner.ts'
import { ForeignClient } from './foreign-client.ts'
import { Program } from './program.ts'
import { ZkCli } from './zk-cli.ts'

export interface ClientOptions {
  /** The node that the client sees as `/`. */
  readonly root?: string
  /** In ms. @default 10_000 */
  readonly sessionTimeout?: number
}

export interface CuratorOptions extends ClientOptions {
  /** Whether the JVM has the memory and the compilers of a service, for measurements. @default false */
  readonly isMeasured?: boolean
}

/** Starts a container that has foreign clients and uses the network of its host. Returns its id. `folders` are mounted. */
export async function startClientsContainer(folders: readonly string[] = []): Promise<string> {
  const image = await ensureClientsImage()
  startSweeper()
  const { dockerode } = (await dockerClient()).container
  const id = randomUUID().slice(0, 8)
  const container = await dockerode.createContainer({
    Image: image,
    name: `zk-foreign-clients-${id}`,
    Labels: labelsOf(id),
    HostConfig: { NetworkMode: 'host', Binds: [...folders] },
  })
  await container.start()
  return container.id
}

export async function removeClients(container: string): Promise<void> {
  const { dockerode } = (await dockerClient()).container
  await dockerode.getContainer(container).remove({ force: true })
}

/**
 * Starts foreign clients (zkCli, kazoo and Curator), all in one container that uses the network of its host. If the engine
 * runs on this machine, they can reach servers on its loopback address.
 */
export class ForeignClients implements AsyncDisposable {
  readonly #container: string
  #started: { end(): Promise<unknown> }[] = []

  static async start(): Promise<ForeignClients> {
    return new ForeignClients(await startClientsContainer())
  }

  private constructor(container: string) {
    this.#container = container
  }

  kazoo(connectString: string, { root = '', sessionTimeout = 10_000 }: ClientOptions = {}): Promise<ForeignClient> {
    return this.#notified('kazoo', connectString + root, String(sessionTimeout / 1000))
  }

  curator(
    connectString: string,
    { root = '', sessionTimeout = 10_000, isMeasured = false }: CuratorOptions = {},
  ): Promise<ForeignClient> {
    // A root in the connect string would be lost at the first reconnect, because by then Curator uses the servers' addresses
    // in /zookeeper/config.
    return this.#notified(
      isMeasured ? 'curator-measured' : 'curator',
      connectString,
      String(sessionTimeout),
      root.slice(1),
    )
  }

  async zkCli(connectString: string, { root = '', sessionTimeout = 10_000 }: ClientOptions = {}): Promise<ZkCli> {
    const program = await this.#start('zkCli', '-server', connectString + root, '-timeout', String(sessionTimeout))
    return this.#kept(await ZkCli.over(program))
  }

  /** Ends the clients that still run, and lets them close their sessions. */
  async end(): Promise<void> {
    const started = this.#started
    this.#started = []
    await Promise.all(started.map((client) => client.end()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await removeClients(this.#container)
  }

  async #notified(name: string, ...args: readonly string[]): Promise<ForeignClient> {
    return this.#kept(await ForeignClient.over(await this.#start(name, ...args)))
  }

  #start(name: string, ...args: readonly string[]): Promise<Program> {
    return Program.start(this.#container, name, ['sh', `/foreign/${name}`, ...args])
  }

  #kept<Client extends { end(): Promise<unknown> }>(client: Client): Client {
    this.#started.push(client)
    return client
  }
}
