import { Listener } from './listener.ts'
import { TestEnsemble, type TestEnsembleOptions } from './test-ensemble.ts'

export interface TestServerOptions extends Omit<TestEnsembleOptions, 'members' | 'ports'> {
  /** 0 for any that is free. @default 0 */
  readonly port?: number
}

/**
 * A standalone ZooKeeper server in this process, for tests: an ensemble of one.
 *
 *     await using server = await TestServer.start()
 *     const zk = await connect(server.connectString)
 */
export class TestServer extends TestEnsemble {
  /** Resolves when it serves. Rejects with an `Error` of the system where the port cannot be had. */
  static override async start({ port = 0, ...options }: TestServerOptions = {}): Promise<TestServer> {
    if ('members' in options || 'ports' in options) throw new TypeError('a server is one member, with one port')
    return new TestServer(await Listener.open({ ...options, members: 1, ports: [port] }))
  }

  kill(): void {
    this.members[0]!.kill()
  }

  restart(): void {
    this.members[0]!.restart()
  }
}
