import { checkKeys } from './connection/fault.ts'
import { Listener } from './listener.ts'
import { ENSEMBLE_OPTIONS, integer } from './options.ts'
import { TestEnsemble, type TestEnsembleOptions } from './test-ensemble.ts'

const KNOWN = [...ENSEMBLE_OPTIONS.filter((name) => name !== 'members'), 'host', 'port', 'tls']

/** The options of a server, and its address. */
export interface TestServerOptions extends Omit<TestEnsembleOptions, 'members' | 'ports'> {
  /** The port; 0 for any free one. @default 0 */
  port?: number | undefined
}

/**
 * A standalone ZooKeeper server in this process, for tests: an ensemble of one.
 *
 *     await using server = await TestServer.start()
 *     const zk = await connect(server.connectString)
 */
export class TestServer extends TestEnsemble {
  /** Resolves when the server serves clients. Rejects with an `Error` of the system if the port is not free. */
  static override async start(all: TestServerOptions = {}): Promise<TestServer> {
    checkKeys('a server', all, KNOWN)
    const { port = 0, ...options } = all
    integer('port', port, 0, 65_535)
    return new TestServer(await Listener.open({ ...options, members: 1, ports: [port] }))
  }

  /** The port of the server, even while it is down: the option `port`, or the free port that was found. */
  get port(): number {
    return this.members[0]!.port
  }

  /** Ends the process. Its log survives. Its port refuses connections until `restart`, and stays the same. */
  kill(): void {
    this.members[0]!.kill()
  }

  /** Starts the process again, with its log. */
  restart(): void {
    this.members[0]!.restart()
  }
}
