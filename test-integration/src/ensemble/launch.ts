import { randomUUID } from 'node:crypto'
import type { EnsembleDescription, NodeDescription } from './description.ts'
import { LOOPBACK, dockerClient, engineHost } from './docker.ts'
import { freePorts } from './free-ports.ts'
import { ensureImage } from './image.ts'
import { startNodeContainer } from './node-container.ts'
import { ENSEMBLE, labelsOf, startSweeper } from './owner.ts'
import { createPeerNetwork, type PeerNetwork } from './peer-network.ts'
import { snapshotFile, type SnapshotNode } from './snapshot.ts'

export interface EnsembleOptions {
  /** @default 3 */
  readonly nodes?: number
  /** In ms; sessions time out after 2 to 20 of these. @default 500 */
  readonly tickTime?: number
  /**
   * Variables of the official image, the same for each node. `ZOO_CFG_EXTRA` and `SERVER_JVMFLAGS` are added to ours, the
   * others replace ours.
   */
  readonly environment?: Readonly<Record<string, string>>
  /** Files to put into each node, contents by absolute path: keys, certificates, JAAS configurations. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Nodes that exist from the beginning, parents before children. @default none */
  readonly tree?: readonly SnapshotNode[]
  /**
   * The peer address of each node, as `host:quorumPort:electionPort`; a node listens on its ports on all its addresses.
   * Called before the nodes start, and again when they have to be started again. @default their own addresses
   */
  readonly meetingPoints?: (network: PeerNetwork) => Promise<readonly string[]>
}

/** What runs, and how to start it again. */
export interface Launched {
  readonly description: EnsembleDescription
  /** Replaces all containers by new ones with the same addresses and ports, without any data of the old ones. */
  readonly renew: () => Promise<void>
}

/** Starts the containers; does not wait until they form a quorum. */
export async function launch(options: EnsembleOptions): Promise<Launched> {
  const image = await ensureImage()
  startSweeper()
  for (let attempt = 1; ; attempt++) {
    const id = randomUUID().slice(0, 8)
    try {
      return await launchOnce(id, image, options)
    } catch (error) {
      await remove(id)
      if (attempt === 3 || !isPortTaken(error)) throw error
    }
  }
}

/** Removes all parts of an ensemble. */
export async function remove(ensembleId: string): Promise<void> {
  await removeContainers(ensembleId)
  const { dockerode } = (await dockerClient()).container
  const networks = await dockerode.listNetworks({ filters: filtersOf(ensembleId) })
  await Promise.all(networks.map(({ Id }) => dockerode.getNetwork(Id).remove()))
}

async function removeContainers(ensembleId: string): Promise<void> {
  const { dockerode } = (await dockerClient()).container
  const containers = await dockerode.listContainers({ all: true, filters: filtersOf(ensembleId) })
  await Promise.all(containers.map(({ Id }) => dockerode.getContainer(Id).remove({ force: true, v: true })))
}

const filtersOf = (ensembleId: string) => ({ label: [`${ENSEMBLE}=${ensembleId}`] })

async function launchOnce(
  id: string,
  image: string,
  {
    nodes: count = 3,
    tickTime = 500,
    environment = {},
    files = {},
    tree = [],
    meetingPoints = atHome,
  }: EnsembleOptions,
): Promise<Launched> {
  const host = await engineHost()
  const address = host === LOOPBACK ? LOOPBACK : '0.0.0.0'
  const labels = labelsOf(id)
  // Docker publishes ports on the network whose name sorts first. That must stay `bridge`, also for a node that is
  // disconnected from the other network.
  const network = `zk-test-${id}`
  const peers = await createPeerNetwork(network, labels, count)
  const ports = await freePorts(count)
  const servers = (await meetingPoints(peers)).map((point, i) => `server.${i + 1}=${point};2181`).join(' ')

  const startNode = async (peerAddress: string, i: number): Promise<NodeDescription> => {
    const port = ports[i] ?? 0
    // Another process finds the container by its name, also after it was replaced.
    const container = `${network}-${i + 1}`
    await startNodeContainer({
      image,
      name: container,
      labels,
      network,
      peerAddress,
      publishOn: { address, port },
      environment: {
        ...environmentOf(tickTime, environment),
        ZOO_DATA_DIR: DATA,
        ZOO_MY_ID: String(i + 1),
        ZOO_SERVERS: servers,
      },
      files: { ...files, ...snapshotOf(tree) },
    })
    return { id: i + 1, port, peerAddress, container }
  }
  const startNodes = (): Promise<NodeDescription[]> => allOf(peers.addresses.map(startNode))
  const renew = async (): Promise<void> => {
    await removeContainers(id)
    await startNodes()
  }
  return { description: { id, host, network, tickTime, nodes: await startNodes() }, renew }
}

async function atHome({ addresses }: PeerNetwork): Promise<readonly string[]> {
  return addresses.map((address) => `${address}:2888:3888`)
}

/** The official image's data directory. */
const DATA = '/data'

function snapshotOf(tree: readonly SnapshotNode[]): Record<string, Uint8Array> {
  if (tree.length === 0) return {}
  const { name, content } = snapshotFile(tree)
  return { [`${DATA}/${name}`]: content }
}

/**
 * Heap of each server, in MiB. Most of what servers keep comes from `many-watches`: the last 500 transactions, read and
 * encoded (200 multis of 500 parts: 35 MiB), and all nodes that tests leave behind (49,000: 25 MiB). Then 63 MiB are
 * reachable, and 75 survive a collection that is not a full one, when servers are killed and come back. A server that
 * joins again receives these transactions, and for a moment has them twice. Chaos alone keeps 9 MiB.
 */
const HEAP = 256

function environmentOf(tickTime: number, own: Readonly<Record<string, string>>): Record<string, string> {
  return {
    ZOO_TICK_TIME: String(tickTime),
    ZOO_INIT_LIMIT: '10',
    ZOO_SYNC_LIMIT: '4',
    ZOO_MAX_CLIENT_CNXNS: '0',
    ZOO_STANDALONE_ENABLED: 'false',
    ZOO_ADMINSERVER_ENABLED: 'false',
    ZOO_4LW_COMMANDS_WHITELIST: '*',
    ZK_SERVER_HEAP: String(HEAP),
    ...own,
    // All addresses: a node that starts while it is cut off lacks the address that its peers know.
    ZOO_CFG_EXTRA: `extendedTypesEnabled=true quorumListenOnAllIPs=true ${own['ZOO_CFG_EXTRA'] ?? ''}`,
    SERVER_JVMFLAGS: [
      // Empty containers and expired TTL nodes are deleted within a second instead of a minute.
      '-Dznode.container.checkIntervalMs=1000',
      // A server without memory goes on with some of its threads, and later requests fail. So let it end, with code 3.
      '-XX:+ExitOnOutOfMemoryError',
      own['SERVER_JVMFLAGS'] ?? '',
    ].join(' '),
  }
}

/** Like `Promise.all`, but waits until all have settled, so that nothing is started after `remove`. */
async function allOf<T>(starts: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(starts)
  return Promise.all(starts)
}

function isPortTaken(error: unknown): boolean {
  return /port is already allocated|address already in use/i.test(String(error))
}
