import { dockerClient, testcontainers } from './docker.ts'

export interface NodeContainerOptions {
  readonly image: string
  readonly name: string
  readonly labels: Record<string, string>
  /** The peers' network, and the node's address on it. */
  readonly network: string
  readonly peerAddress: string
  /** The host port on which the client port is published. */
  readonly publishOn: { readonly address: string; readonly port: number }
  readonly environment: Record<string, string>
  /** The contents of files by absolute path. */
  readonly files: Readonly<Record<string, string | Uint8Array>>
}

/** Starts the container of one node. */
export async function startNodeContainer(options: NodeContainerOptions): Promise<void> {
  const { dockerode } = (await dockerClient()).container
  const { GenericContainer, Wait } = await testcontainers()

  // Settings that testcontainers does not offer.
  class NodeContainer extends GenericContainer {
    constructor() {
      super(options.image)
      const { address, port } = options.publishOn
      this.hostConfig.PortBindings = { '2181/tcp': [{ HostIp: address, HostPort: String(port) }] }
    }

    /** Keeps it on docker's `bridge` as well, for clients: faults of the peers' network must not affect them. */
    protected override async containerCreated(id: string): Promise<void> {
      const EndpointConfig = { IPAMConfig: { IPv4Address: options.peerAddress } }
      await dockerode.getNetwork(options.network).connect({ Container: id, EndpointConfig })
    }
  }

  await new NodeContainer()
    .withName(options.name)
    .withLabels(options.labels)
    // `ip route` needs this to add blackhole routes.
    .withAddedCapabilities('NET_ADMIN')
    .withEnvironment(options.environment)
    .withCopyContentToContainer(
      Object.entries(options.files).map(([target, content]) => ({ target, content: Buffer.from(content) })),
    )
    // A node listens long before it serves, so this only waits for some output. The ensemble checks which nodes serve.
    .withWaitStrategy(Wait.forLogMessage(/./))
    .withStartupTimeout(60_000)
    .start()
}
