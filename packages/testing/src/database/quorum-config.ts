// The content of /zookeeper/config: the members and their addresses (QuorumVerifier, QuorumServer).

export const CONFIG_NODE = '/zookeeper/config'

export interface QuorumServer {
  readonly id: number
  readonly isParticipant: boolean
  readonly host: string
  readonly quorumPort: number
  readonly electionPort: number
  readonly client: { readonly host: string; readonly port: number } | undefined
}

export interface QuorumConfig {
  readonly servers: ReadonlyMap<number, QuorumServer>
  /** 0n until a quorum has agreed on it. */
  readonly version: bigint
}

/** The configuration with which an ensemble begins. */
export function initialConfig(members: readonly string[]): QuorumConfig {
  const servers = members.map((host, index): readonly [number, QuorumServer] => {
    const ports = { quorumPort: 2888, electionPort: 3888 }
    return [index + 1, { id: index + 1, isParticipant: true, host, ...ports, client: undefined }]
  })
  return { servers: new Map(servers), version: 0n }
}

/** The ids of the servers that vote. */
export function votersIn({ servers }: QuorumConfig): ReadonlySet<number> {
  return new Set([...servers.values()].filter(({ isParticipant }) => isParticipant).map(({ id }) => id))
}

/** Whether more than half of the voters are among these servers. */
export function isQuorum(voters: ReadonlySet<number>, ids: Iterable<number>): boolean {
  const present = new Set(ids)
  return [...voters].filter((id) => present.has(id)).length > voters.size / 2
}

export function formatConfig({ servers, version }: QuorumConfig): string {
  const sorted = [...servers.values()].sort((a, b) => a.id - b.id)
  const lines = sorted.map((server) => `server.${server.id}=${formatServer(server)}\n`)
  return `${lines.join('')}version=${version.toString(16)}`
}

/** Reads the text of `formatConfig`. The name of a member may be any text without a line break. */
export function parseConfig(text: string): QuorumConfig {
  const servers = new Map<number, QuorumServer>()
  let version = 0n
  for (const line of text.split('\n')) {
    const equals = line.indexOf('=')
    const [key, value] = [line.slice(0, equals), line.slice(equals + 1)]
    if (key === 'version') version = BigInt(`0x${value}`)
    const id = Number(key.slice('server.'.length))
    const server = key.startsWith('server.') ? parseServer(id, value) : undefined
    if (server !== undefined) servers.set(id, server)
  }
  return { servers, version }
}

/** Reads `host:port:port[:type][;[host:]port]`. Returns undefined for any other text. */
export function parseServer(id: number, text: string): QuorumServer | undefined {
  const [, host = '', quorumPort, electionPort, type, clientHost = '0.0.0.0', clientPort] =
    /^(\[.+\]|.+?):(\d+):(\d+)(?::(participant|observer))?(?:;(?:(.+):)?(\d+))?$/i.exec(text) ?? []
  if (quorumPort === undefined || quorumPort === electionPort) return undefined
  return {
    id,
    isParticipant: type?.toLowerCase() !== 'observer',
    host,
    quorumPort: Number(quorumPort),
    electionPort: Number(electionPort),
    client: clientPort === undefined ? undefined : { host: clientHost, port: Number(clientPort) },
  }
}

function formatServer({ host, quorumPort, electionPort, isParticipant, client }: QuorumServer): string {
  const peers = `${host}:${quorumPort}:${electionPort}:${isParticipant ? 'participant' : 'observer'}`
  return client === undefined ? peers : `${peers};${client.host}:${client.port}`
}
