// Parses /zookeeper/config (QuorumVerifier.toString, QuorumServer.toString).

import { inJson } from '../base/in-json.ts'

/** One server of an ensemble. */
export interface ServerConfig {
  /** The `myid` of the server. */
  readonly id: number
  /** A participant votes. An observer only serves clients. */
  readonly role: 'participant' | 'observer'
  /** The addresses for other servers: one, or several if the server has several networks. */
  readonly addresses: readonly ServerAddresses[]
  /**
   * The address for clients without TLS; undefined if the configuration has none, for instance because `clientPort` is in the
   * static file of the servers. `0.0.0.0` stands for all addresses of the server.
   */
  readonly client: ClientAddress | undefined
  /** The address for clients with TLS. Configurations have it from 3.10 on. */
  readonly secureClient: ClientAddress | undefined
}

/** An address at which a server accepts clients. */
export interface ClientAddress {
  /** A host name or an IP address. An IPv6 address has no brackets. */
  readonly host: string
  /** The TCP port. */
  readonly port: number
}

/** An address of a server for the other servers of the ensemble. */
export interface ServerAddresses {
  /** A host name or an IP address. An IPv6 address has no brackets. */
  readonly host: string
  /** The port to which followers connect when this server is the leader. */
  readonly quorumPort: number
  /** The port for the election of the leader. */
  readonly electionPort: number
}

/** The configuration on which the servers of an ensemble have agreed. A standalone server has none. In JSON `version` is text, `0x…`. */
export interface EnsembleConfig {
  /** The servers. Lines that this version does not know are left out: see `text`. */
  readonly servers: readonly ServerConfig[]
  /** The zxid of the last reconfiguration, or 0 if there was none. Pass it to `reconfig` as `fromConfig`. */
  readonly version: bigint
  /** The whole text, unknown lines included. */
  readonly text: string
}

/** Parses the text of the node. Lines that are not known are left out. */
export function parseConfig(text: string): EnsembleConfig {
  const lines = text.split('\n')
  const version = lines.map((line) => /^version=([0-9a-f]{1,16})$/.exec(line)?.[1]).find((hex) => hex !== undefined)
  return inJson({
    servers: lines.map(parseServer).filter((server) => server !== undefined),
    version: version === undefined ? 0n : BigInt(`0x${version}`),
    text,
  })
}

/** Parses a line `server.1=zk1:2888:3888:participant;0.0.0.0:2181`, which may have a second client address, for TLS. */
function parseServer(line: string): ServerConfig | undefined {
  const [, id, peers = '', role = 'participant', client, secureClient] =
    /^server\.(\d+)=([^;]+?)(?::(participant|observer))?(?:;([^;]*))?(?:;([^;]*))?$/.exec(line) ?? []
  if (id === undefined) return undefined
  const addresses = peers.split('|').map(parseAddresses)
  if (!addresses.every((address) => address !== undefined)) return undefined
  return {
    id: Number(id),
    role: role as ServerConfig['role'],
    addresses,
    client: parseClient(client),
    secureClient: parseClient(secureClient),
  }
}

function parseAddresses(text: string): ServerAddresses | undefined {
  const [, host = '', quorumPort, electionPort] = /^(.+):(\d+):(\d+)$/.exec(text) ?? []
  if (quorumPort === undefined) return undefined
  return { host: withoutBrackets(host), quorumPort: Number(quorumPort), electionPort: Number(electionPort) }
}

function parseClient(text = ''): ClientAddress | undefined {
  const [, host = '0.0.0.0', port] = /^(?:(.+):)?(\d+)$/.exec(text) ?? []
  return port === undefined ? undefined : { host: withoutBrackets(host), port: Number(port) }
}

/** An IPv6 address has brackets in the text. */
function withoutBrackets(host: string): string {
  return host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
}
