import { checkKeys } from './connection/fault.ts'
import { Listener } from './listener.ts'
import { ENSEMBLE_OPTIONS, integer } from './options.ts'
import { TestEnsemble, type TestEnsembleOptions } from './test-ensemble.ts'

const KNOWN = [...ENSEMBLE_OPTIONS.filter((name) => name !== 'members'), 'host', 'port', 'tls']

/** What a server is like, and where it is reached. */
export interface TestServerOptions extends Omit<TestEnsembleOptions, 'members' | 'ports'> {
  /** 0 for any that is free. @default 0 */
  port?: number | undefined
}

/**
 * A standalone ZooKeeper server in this process, for tests: an ensemble of one.
 *
 *     await using server = await TestServer.start()
 *     const zk = await connect(server.connectString)
 */
export class TestServer extends TestEnsemble {
  /** Resolves when it serves. Rejects with an `Error` of the system where the port cannot be had. */
  static override async start(all: TestServerOptions = {}): Promise<TestServer> {
    checkKeys('a server', all, KNOWN)
    const { port = 0, ...options } = all
    integer('port', port, 0, 65_535)
    return new TestServer(await Listener.open({ ...options, members: 1, ports: [port] }))
  }

  /** Where it listens, or will again: that of the option, or the one that was free. */
  get port(): number {
    return this.members[0]!.port
  }

  /** The process dies; its log survives. Its port refuses connections meanwhile, and stays the same. */
  kill(): void {
    this.members[0]!.kill()
  }

  /** It starts again, with what its log has. */
  restart(): void {
    this.members[0]!.restart()
  }
}
