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
  /** In ms; a session timeout is between 2 and 20 ticks. @default 500 */
  readonly tickTime?: number
  /**
   * Environment variables of the official image, the same for each node. `ZOO_CFG_EXTRA` and `SERVER_JVMFLAGS` are appended
   * to ours; other variables replace ours.
   */
  readonly environment?: Readonly<Record<string, string>>
  /** Files to copy into each node, with their contents by absolute path: keys, certificates, JAAS configurations. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** Nodes that exist from the beginning. A parent must come before its children. @default none */
  readonly tree?: readonly SnapshotNode[]
  /**
   * The peer address of each node, as `host:quorumPort:electionPort`. A node listens on these ports on all its addresses.
   * Called before the nodes are started, and again before they are replaced. @default their own addresses
   */
  readonly meetingPoints?: (network: PeerNetwork) => Promise<readonly string[]>
}

/** The running ensemble, and how to replace its nodes. */
export interface Launched {
  readonly description: EnsembleDescription
  /** Replaces all containers by new ones with the same addresses and ports, without any data of the old ones. */
  readonly renew: () => Promise<void>
}

/** Starts the containers. Does not wait until they form a quorum. */
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
  // Docker publishes ports on the network whose name sorts first. That must stay `bridge`, even if a node is disconnected
  // from the other network.
  const network = `zk-test-${id}`
  const peers = await createPeerNetwork(network, labels, count)
  const ports = await freePorts(count)
  const servers = (await meetingPoints(peers)).map((point, i) => `server.${i + 1}=${point};2181`).join(' ')

  const startNode = async (peerAddress: string, i: number): Promise<NodeDescription> => {
    const port = ports[i] ?? 0
    // Another process finds the container by its name, even after it was replaced.
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

/** The data directory of the official image. */
const DATA = '/data'

function snapshotOf(tree: readonly SnapshotNode[]): Record<string, Uint8Array> {
  if (tree.length === 0) return {}
  const { name, content } = snapshotFile(tree)
  return { [`${DATA}/${name}`]: content }
}

/**
 * The heap of each server, in MiB. Most of it is for `many-watches`: the last 500 transactions, decoded and encoded (200
 * multis of 500 operations: 35 MiB), and all nodes that tests leave behind (49,000: 25 MiB). Then 63 MiB are reachable, and
 * 75 MiB survive a partial collection when servers are killed and come back. A server that joins again receives these
 * transactions, and has them twice for a moment. Chaos alone keeps 9 MiB.
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
    // All addresses, because a node that starts while it is cut off does not have the address that its peers know.
    ZOO_CFG_EXTRA: `extendedTypesEnabled=true quorumListenOnAllIPs=true ${own['ZOO_CFG_EXTRA'] ?? ''}`,
    SERVER_JVMFLAGS: [
      // Deletes empty containers and expired TTL nodes within a tenth of a second instead of a minute.
      '-Dznode.container.checkIntervalMs=100',
      // A server that is out of memory would go on with some of its threads, and later requests would fail. This ends it
      // with code 3.
      '-XX:+ExitOnOutOfMemoryError',
      own['SERVER_JVMFLAGS'] ?? '',
    ].join(' '),
  }
}

/** Like `Promise.all`, but waits until all have settled, so that nothing is started after `remove` was called. */
async function allOf<T>(starts: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(starts)
  return Promise.all(starts)
}

function isPortTaken(error: unknown): boolean {
  return /port is already allocated|address already in use/i.test(String(error))
}
