// The servers in /zookeeper/config (QuorumVerifier.toString, QuorumServer.toString).

/** One server of an ensemble. */
export interface ServerConfig {
  /** `myid` */
  readonly id: number
  /** An observer serves clients and has no vote. */
  readonly role: 'participant' | 'observer'
  /** Its addresses for other servers: one, unless it has several networks. */
  readonly addresses: readonly ServerAddresses[]
  /**
   * Its address for clients, without TLS where it also has a port for TLS (from 3.10 on); undefined where the configuration
   * has none. `0.0.0.0` stands for all its addresses.
   */
  readonly client: { readonly host: string; readonly port: number } | undefined
}

/** An address of a server for the other servers of the ensemble. */
export interface ServerAddresses {
  /** A name or an address. IPv6 has no brackets. */
  readonly host: string
  /** The port to which followers of this server connect. */
  readonly quorumPort: number
  /** The port for votes. */
  readonly electionPort: number
}

/** The configuration on which the servers of an ensemble have agreed. A standalone server has none. */
export interface EnsembleConfig {
  /** The servers. Unknown lines are left out: see `text`. */
  readonly servers: readonly ServerConfig[]
  /** The zxid of the reconfiguration that made it, or 0. `fromConfig` of `reconfig` takes it. */
  readonly version: bigint
  /** The whole text, unknown lines included. */
  readonly text: string
}

/** undefined for an unknown line. */
export function parseConfig(text: string): EnsembleConfig {
  const lines = text.split('\n')
  const version = lines.map((line) => /^version=([0-9a-f]{1,16})$/.exec(line)?.[1]).find((hex) => hex !== undefined)
  return {
    servers: lines.map(parseServer).filter((server) => server !== undefined),
    version: version === undefined ? 0n : BigInt(`0x${version}`),
    text,
  }
}

/** `server.1=zk1:2888:3888:participant;0.0.0.0:2181`, from 3.10 on also `;0.0.0.0:2181;0.0.0.0:2281`, the latter with TLS. */
function parseServer(line: string): ServerConfig | undefined {
  const [, id, peers = '', role = 'participant', client] =
    /^server\.(\d+)=([^;]+?)(?::(participant|observer))?(?:;([^;]*))?(?:;[^;]*)?$/.exec(line) ?? []
  if (id === undefined) return undefined
  const addresses = peers.split('|').map(parseAddresses)
  if (!addresses.every((address) => address !== undefined)) return undefined
  return { id: Number(id), role: role as ServerConfig['role'], addresses, client: parseClient(client) }
}

function parseAddresses(text: string): ServerAddresses | undefined {
  const [, host = '', quorumPort, electionPort] = /^(.+):(\d+):(\d+)$/.exec(text) ?? []
  if (quorumPort === undefined) return undefined
  return { host: withoutBrackets(host), quorumPort: Number(quorumPort), electionPort: Number(electionPort) }
}

function parseClient(text = ''): ServerConfig['client'] {
  const [, host = '0.0.0.0', port] = /^(?:(.+):)?(\d+)$/.exec(text) ?? []
  return port === undefined ? undefined : { host: withoutBrackets(host), port: Number(port) }
}

/** An IPv6 address has brackets in the text. */
function withoutBrackets(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
}
