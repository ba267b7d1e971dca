import { invalid } from './invalid.ts'
import { invalidPath } from './path.ts'
import { printable } from './printable.ts'

/** The address of a server. */
export interface ServerAddress {
  /** A host name or an IP address. An IPv6 address has no brackets here. */
  readonly host: string
  /** From 1 to 65,535. */
  readonly port: number
}

/** The parts of a connect string. */
export interface ConnectString {
  /** The servers, in the order of the text. There is at least one. */
  readonly servers: readonly ServerAddress[]
  /** The chroot, below which all paths of the client are. '/' means that there is no chroot. */
  readonly chroot: string
}

const DEFAULT_PORT = '2181'
// `name:port`, `[address]` or `[address]:port`, followed by a chroot or by nothing.
const SERVER = /^(?:[^/:[\]]+:\d+|\[[^\]]*\](?::\d+)?)\s*(?:\/|$)/

/**
 * Parses `host[:port],…[/chroot]` by the rules of ZooKeeper's ConnectStringParser. The default port is 2181. Spaces and empty
 * entries are skipped. An IPv6 address is written `[::1]:2181`. Java accepts some mistakes by accident. This function throws
 * a `TypeError` for them: an IPv6 address without brackets, port 0, an empty port, no server at all, a server after the
 * chroot (`a/x,b:2181`).
 */
export function parseConnectString(connectString: string): ConnectString {
  if (typeof connectString !== 'string') {
    throw invalid(connectString, 'connectString', 'a string: "host:port,host:port/chroot"')
  }
  // The text may contain a password, in a form of another product, and is not shown.
  const refuse = (reason: string) => new TypeError(`connectString: ${reason}`)
  if (connectString.includes('://')) throw refuse('it is not a URL; write "host:port,host:port/chroot"')
  const [, list, chroot = '/'] = /^([^/]*)(\/.*)?$/s.exec(connectString)!
  if (hasFurtherServer(chroot)) throw refuse('there is only one chroot, at the end: "host:port,host:port/chroot"')
  const fault = invalidPath(chroot)
  if (fault !== undefined) throw refuse(`the chroot ${fault}`)
  const servers = list!
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry, index) => parseServer(entry, (reason) => refuse(`server ${index + 1} ${reason}`)))
  if (servers.length === 0) throw refuse('no server named; write "host:port,host:port/chroot"')
  return { servers, chroot }
}

/**
 * Returns `host:port`. An IPv6 address gets brackets: `[::1]:2181`. Characters that no host has, but that a terminal obeys, are
 * escaped (`printable`).
 */
export function formatServer({ host, port }: ServerAddress): string {
  return printable(`${host.includes(':') ? `[${host}]` : host}:${port}`)
}

/**
 * Whether a server is named after the first slash, which is a mistake. Usually ',' and ':' are just characters of the chroot.
 * They are a mistake if a comma is followed by (1) `name:port`, (2) an address in brackets, or (3) a name and the same chroot
 * (`a/x,b/x`), or (4) if nothing is between the slash and the first comma (`a/,b`).
 */
function hasFurtherServer(chroot: string): boolean {
  const [first, ...others] = chroot.split(',')
  const chrootEndsBefore = (other: string) => first === '/' || other.slice(other.indexOf('/')) === first
  return others.some((other) => SERVER.test(other.trim()) || chrootEndsBefore(other))
}

function parseServer(entry: string, refuse: (reason: string) => TypeError): ServerAddress {
  if (entry.includes('@')) throw refuse('has an "@"; give credentials by the option auth')
  // The ASCII characters of a name are letters, digits, `.`, `-` and `_`. In other products, other characters separate servers
  // or precede them.
  const match = /^(?:\[([\w.:%-]+)\]|([\w.\-\u00a1-\uffff]+))(?::([^:;|\s]*))?$/.exec(entry)
  if (match === null || printable(entry) !== entry) {
    throw refuse('is neither "host:port" nor "[::1]:2181"; servers are separated by ","')
  }
  const [, v6, name, port = DEFAULT_PORT] = match
  const number = /^\d{1,5}$/.test(port) ? Number(port) : 0
  if (number < 1 || number > 65_535) throw refuse('must have a port from 1 to 65535')
  return { host: v6 ?? name!, port: number }
}
