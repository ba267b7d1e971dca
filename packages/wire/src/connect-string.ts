import { invalid } from './invalid.ts'
import { validatePath } from './path.ts'

/** The address of a server. */
export interface ServerAddress {
  /** A name or an address. An IPv6 address has no brackets here. */
  readonly host: string
  /** From 1 to 65,535. */
  readonly port: number
}

/** The parts of a connect string. */
export interface ConnectString {
  /** At least one, in the order of the text. */
  readonly servers: readonly ServerAddress[]
  /** The chroot: every path of the client is below it. '/' for none. */
  readonly chroot: string
}

const DEFAULT_PORT = '2181'
// `name:port`, `[address]` or `[address]:port`, then the end or a chroot.
const SERVER = /^(?:[^/:[\]]+:\d+|\[[^\]]*\](?::\d+)?)\s*(?:\/|$)/

/**
 * Reads `host[:port],…[/chroot]` by the rules of ZooKeeper's ConnectStringParser: the default port is 2181, spaces and empty
 * entries are skipped, an IPv6 address is written `[::1]:2181`. Java accepts some mistakes by accident. For these it throws a
 * `TypeError`: a bare IPv6 address, port 0, an empty port, no server at all, one more server behind the chroot
 * (`a/x,b:2181`).
 */
export function parseConnectString(connectString: string): ConnectString {
  if (typeof connectString !== 'string') {
    throw invalid(connectString, 'connectString', 'a string: "host:port,host:port/chroot"')
  }
  const refuse = (reason: string) => new TypeError(`connectString ${JSON.stringify(connectString)}: ${reason}`)
  if (connectString.includes('://')) throw refuse('it is not a URL; write "host:port,host:port/chroot"')
  const [, list, chroot = '/'] = /^([^/]*)(\/.*)?$/s.exec(connectString)!
  if (namesServer(chroot)) throw refuse('a chroot stands once, at the end: "host:port,host:port/chroot"')
  try {
    validatePath(chroot)
  } catch (error) {
    throw refuse(`chroot: ${(error as Error).message}`)
  }
  const servers = list!
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => parseServer(entry, (reason) => refuse(`${JSON.stringify(entry)} ${reason}`)))
  if (servers.length === 0) throw refuse('no server named; write "host:port,host:port/chroot"')
  return { servers, chroot }
}

/** `host:port`, with the brackets of an IPv6 address. */
export function formatServer({ host, port }: ServerAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/**
 * A chroot may hold ',' and ':', as every path may. It counts as a chroot with one more server behind it when one of its
 * commas is followed by a name and a port, by an address in brackets, or by the same chroot again (`a/x,b/x`), or when no
 * name is before its first comma (`a/,b`).
 */
function namesServer(chroot: string): boolean {
  const [first, ...others] = chroot.split(',')
  const again = (other: string) => first === '/' || other.slice(other.indexOf('/')) === first
  return others.some((other) => SERVER.test(other.trim()) || again(other))
}

function parseServer(entry: string, refuse: (reason: string) => TypeError): ServerAddress {
  // The separators and prefixes of other products would otherwise count as a part of a name or a port.
  const match = /^(?!.*[\s;|@])(?:\[([^\]]+)\]|([^:[\]]+))(?::([^:]*))?$/.exec(entry)
  if (match === null) {
    throw refuse('is neither "host:port" nor "[::1]:2181"; servers are separated by ","')
  }
  const [, v6, name, port = DEFAULT_PORT] = match
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0
  if (number < 1 || number > 65_535) throw refuse('must have a port from 1 to 65535')
  return { host: v6 ?? name!, port: number }
}
