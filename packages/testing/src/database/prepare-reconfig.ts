// The transaction of a reconfig. The checks are those of PrepRequestProcessor, in the same order.
import { ErrorCode, Perms, type ReconfigRequest, type TypeOf } from '@zk/wire'
import type { Txn } from '../server/txn.ts'
import { allowed } from './acl.ts'
import { viewOf } from './change-records.ts'
import { type PrepareContext, refuse } from './prepare-node.ts'
import {
  CONFIG_NODE,
  formatConfig,
  isQuorum,
  parseServer,
  type QuorumConfig,
  type QuorumServer,
  votersIn,
} from './quorum-config.ts'

type Asked = TypeOf<typeof ReconfigRequest>
type Servers = ReadonlyMap<number, QuorumServer>

export interface Quorum {
  readonly config: QuorumConfig
  /** The ids of leader and followers. */
  readonly synced: ReadonlySet<number>
}

/** `quorum` is undefined for a standalone server. */
export function prepareReconfig(asked: Asked, quorum: Quorum | undefined, context: PrepareContext): Txn {
  if (quorum === undefined) return refuse(ErrorCode.Unimplemented)
  const { changes, authInfo, zxid } = context
  const { config, synced } = quorum
  if (asked.curConfigId !== -1n && asked.curConfigId !== config.version) return refuse(ErrorCode.BadVersion)
  const servers = asked.newMembers === null ? incremental(asked, config.servers) : all(asked.newMembers)
  if (typeof servers === 'number') return refuse(servers)
  const next = { servers, version: zxid }
  const voters = votersIn(next)
  // This is the rule of `standaloneEnabled`, which is on by default.
  if (voters.size < 2) return refuse(ErrorCode.BadArguments)
  if (!isQuorum(voters, synced)) return refuse(ErrorCode.NewConfigNoQuorum)
  const node = changes.get(CONFIG_NODE)
  if (node === undefined) return refuse(ErrorCode.NoNode)
  if (!allowed(node.acl, Perms.WRITE, authInfo)) return refuse(ErrorCode.NoAuth)
  changes.add(zxid, CONFIG_NODE, viewOf(node, { version: -1 }))
  const data = new TextEncoder().encode(formatConfig(next))
  return { type: 'setData', path: CONFIG_NODE, data, version: -1, isReconfig: true }
}

/** The servers of a list that replaces the old one. Lines are as in a property file; commas also separate them. */
function all(members: string): Servers | number {
  const servers = new Map<number, QuorumServer>()
  for (const line of members.replaceAll(',', '\n').split('\n')) {
    if (line.trim() === '') continue
    const [, key = '', value = ''] = /^\s*([^=:\s]+)\s*[=:]?\s*(.*)$/.exec(line) ?? []
    if (key === 'version') continue
    // This differs from ZooKeeper: there are no groups and weights here.
    if (/^(?:group|weight)/.test(key)) return ErrorCode.Unimplemented
    if (!key.startsWith('server.')) return ErrorCode.BadArguments
    const id = parseId(key.slice('server.'.length))
    if (id === undefined) return ErrorCode.MarshallingError
    const server = parseServer(id, value)
    if (server === undefined) return ErrorCode.BadArguments
    servers.set(id, server)
  }
  return servers
}

function incremental({ leavingServers, joiningServers }: Asked, present: Servers): Servers | number {
  const servers = new Map(present)
  for (const leaving of split(leavingServers)) {
    const id = parseId(leaving)
    // ZooKeeper throws a NumberFormatException here, which nothing catches.
    if (id === undefined) return ErrorCode.MarshallingError
    servers.delete(id)
  }
  for (const joining of split(joiningServers)) {
    const parts = split(joining, '=')
    if (parts.length !== 2) return ErrorCode.BadArguments
    const id = parseId(parts[0]!.slice(parts[0]!.lastIndexOf('.') + 1))
    if (id === undefined) return ErrorCode.MarshallingError
    const server = parseServer(id, parts[1]!)
    if (server?.client === undefined) return ErrorCode.BadArguments
    for (const other of servers.values()) {
      if (other.id !== id && shareAddress(server, other)) return ErrorCode.BadArguments
    }
    servers.set(id, server)
  }
  return servers
}

/** StringUtils.split */
function split(text: string | null, separator = ','): string[] {
  const parts = (text ?? '').split(separator).map((part) => part.trim())
  return parts.filter((part) => part !== '')
}

/** Long.parseLong, for texts that can be the id of a server. */
function parseId(text: string): number | undefined {
  return /^[+-]?\d{1,15}$/.test(text) ? Number(text) : undefined
}

/** Whether the two have an address in common, apart from wildcards and loopback (QuorumServer.checkAddressDuplicate). */
function shareAddress(server: QuorumServer, other: QuorumServer): boolean {
  const own = addressesOf(server)
  return addressesOf(other).some((address) => own.includes(address))
}

function addressesOf({ host, quorumPort, electionPort, client }: QuorumServer): string[] {
  const all = [{ host, port: quorumPort }, { host, port: electionPort }, ...(client === undefined ? [] : [client])]
  return all.filter((address) => !ANYWHERE.test(address.host)).map((address) => `${address.host}:${address.port}`)
}

const ANYWHERE = /^(?:0\.0\.0\.0|\[?::1?\]?|localhost|127\..*)$/
