import { randomUUID } from 'node:crypto'
import { ask, parseSrvr } from '@zk/conform/internal'
import { dockerClient, LOOPBACK } from './docker.ts'
import { freePorts } from './free-ports.ts'
import { ensureImage } from './image.ts'
import { labelsOf, startSweeper } from './owner.ts'
import { until } from './until.ts'

export interface StandaloneOptions {
  /** The cores that it may use, in the syntax of taskset. @default all */
  readonly cpus?: string | undefined
  /** Environment variables of the official image. They replace ours. */
  readonly environment?: Readonly<Record<string, string>>
}

/**
 * A server without an ensemble, for measurements. It uses the network of this machine, so nothing is between it and its
 * clients. Its data is in memory, and the JVM uses both compilers.
 */
export class StandaloneServer implements AsyncDisposable {
  readonly connectString: string
  readonly #container: string

  static async start({ cpus, environment = {} }: StandaloneOptions = {}): Promise<StandaloneServer> {
    const image = await ensureImage()
    startSweeper()
    const { dockerode } = (await dockerClient()).container
    const id = randomUUID().slice(0, 8)
    const [port = 0] = await freePorts(1)
    const container = await dockerode.createContainer({
      Image: image,
      name: `zk-standalone-${id}`,
      Labels: labelsOf(id),
      Env: Object.entries({
        ZOO_SERVERS: `server.1=${LOOPBACK}:2888:3888;${LOOPBACK}:${port}`,
        ZOO_ADMINSERVER_ENABLED: 'false',
        ZOO_MAX_CLIENT_CNXNS: '0',
        ZOO_LOG_LEVEL: 'WARN',
        SERVER_JVMFLAGS: '-XX:TieredStopAtLevel=4',
        ...environment,
      }).map(([name, value]) => `${name}=${value}`),
      HostConfig: {
        NetworkMode: 'host',
        Tmpfs: { '/data': '', '/datalog': '' },
        ...(cpus !== undefined && { CpusetCpus: cpus }),
      },
    })
    await container.start()
    const server = new StandaloneServer(container.id, `${LOOPBACK}:${port}`)
    await until(`a server at ${server.connectString}`, async () => {
      // A server that is being set up may take the word and never answer.
      const answer = await ask(port, 'srvr', { host: LOOPBACK, timeout: 1_000 })
      return parseSrvr(answer) !== undefined
    })
    return server
  }

  private constructor(container: string, connectString: string) {
    this.#container = container
    this.connectString = connectString
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { dockerode } = (await dockerClient()).container
    await dockerode.getContainer(this.#container).remove({ force: true, v: true })
  }
}
