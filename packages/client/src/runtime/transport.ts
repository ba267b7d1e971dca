// Opens TCP and TLS connections. No other file does.
import { connect, isIP, type Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import type { TlsOptions } from './tls.ts'
import type { RuntimeConnection, ConnectionHandler, DialTarget } from './runtime.ts'
import { explainEnd, resetFailure, type Stage, tlsFailure, tlsSetUpFailure } from './tls-failure.ts'

/** `write` returns false once the socket buffers this many bytes, as many as the session sends at once (`SEGMENT_SIZE`). */
const HIGH_WATER_MARK = 256 * 1024
/**
 * The number of bytes that one read may return. A read of the stream of a socket returns 64 KiB (libuv). With that size a reply
 * with 10,000 names comes in three pieces, which are copied, and takes a sixth longer. Systems provide memory when it is
 * first written to, so small replies do not take more of it.
 */
const READ_SIZE = 256 * 1024
/** The same, until a read has returned as many. */
const FIRST_READ_SIZE = 4 * 1024

export function dial({ host, port, address = host, tls }: DialTarget, handler: ConnectionHandler): RuntimeConnection {
  // If the target has no address, `connect` of node:net looks up the host name on each call, and tries its addresses one after
  // the other (autoSelectFamily).
  const where = { host: address, port }
  let open = true
  let stage: Stage = 'dialing'
  let hasReceivedNothing = true
  const received = (bytes: Uint8Array) => {
    hasReceivedNothing = false
    if (open) handler.received(bytes)
  }
  const socket = tls === undefined ? plainSocket(where, received) : secureSocket(where, host, tls)
  const lose = (error: Error) => {
    if (!open) return
    open = false
    socket.destroy()
    const explained = hasReceivedNothing ? resetFailure(error, stage) : undefined
    handler.lost(
      explained ??
        (tls === undefined ? error : tlsFailure(error, stage, tls.cert !== undefined || tls.pfx !== undefined)),
    )
  }
  socket.on('connect', () => {
    if (isConnectedToItself(socket))
      return lose(new Error(`nothing listens on port ${port}: the socket was connected to itself`))
    if (tls !== undefined) stage = 'handshaking'
  })
  socket.on(tls === undefined ? 'connect' : 'secureConnect', () => {
    stage = 'open'
    if (open) handler.opened()
  })
  socket.on('data', received)
  socket.on('drain', () => open && handler.drained())
  socket.on('error', (error) => lose(asError(error)))
  socket.on('end', () => lose(new Error(hasReceivedNothing ? explainEnd(stage) : 'the server closed the connection')))
  socket.on('close', () => open && lose(new Error('the connection was closed')))
  return {
    write: (bytes) => {
      socket.write(bytes)
      return socket.writableLength < HIGH_WATER_MARK
    },
    close: () => {
      open = false
      socket.destroy()
    },
  }
}

/**
 * Whether both ends are the same socket. If nothing listens on a port of this machine, and the port is in the range for clients,
 * the system may choose it as the local port, too. As long as the connection is open, no server can listen there again.
 */
function isConnectedToItself({ localAddress, localPort, remoteAddress, remotePort }: Socket): boolean {
  return localPort !== undefined && localPort === remotePort && localAddress === remoteAddress
}

/**
 * Reads into one buffer of its own (`onread`), not through the stream of the socket. The stream would allocate 64 KiB for
 * each read, which takes 10 % of the time of a small read. The stream still reports the end. The first buffer is small: one
 * of 64 KiB took 10 % of the time of a session with one read.
 */
function plainSocket(where: { host: string; port: number }, received: (bytes: Uint8Array) => void): Socket {
  let buffer = new Uint8Array(FIRST_READ_SIZE)
  const callback = (size: number) => {
    received(buffer.subarray(0, size))
    if (size === FIRST_READ_SIZE) buffer = new Uint8Array(READ_SIZE)
    return true
  }
  return connect({ ...where, noDelay: true, keepAlive: true, onread: { buffer: () => buffer, callback } })
}

/** The names that may be sent as SNI (RFC 6066). */
const SERVER_NAME = /^[a-z\d]([a-z\d.-]*[a-z\d])?$/i

/** The form of a name in DNS and certificates: non-ASCII characters are encoded (`xn--…`). */
function inAscii(host: string): string {
  const url = `http://${host}`
  return /^[\0-\x7f]*$/.test(host) || !URL.canParse(url) ? host : new URL(url).hostname
}

/** Throws if node:tls does not accept the options. That module is loaded here, because most programs do not need it. */
function secureSocket(where: { host: string; port: number }, host: string, tls: TlsOptions): Socket {
  const { checkServerIdentity: checkHost, connect: connectTls } = process.getBuiltinModule('node:tls')
  const { checkServerIdentity } = tls
  // node:tls sends no server name (SNI) unless `servername` is set. SNI has no form for an IP address: none is then sent, and
  // the certificate must be valid for the address.
  const named = isIP(host) === 0 ? { servername: inAscii(host).replace(/\.$/, '') } : {}
  const checked = checkServerIdentity === undefined ? {} : { checkServerIdentity: withoutThrowing(checkServerIdentity) }
  // A JVM refuses a server name with other characters, such as `_`. Then no name is sent, but the certificate must be for the host.
  const name = named.servername
  const isRefused = name !== undefined && tls.servername === undefined && !SERVER_NAME.test(name)
  const check = (checked.checkServerIdentity ?? checkHost) as typeof checkHost
  const unnamed: ConnectionOptions = isRefused
    ? { servername: '', checkServerIdentity: (_, certificate) => check(name, certificate) }
    : {}
  const options: object = { ...named, ...tls, ...checked, ...unnamed, ...where }
  try {
    const socket = connectTls(options as ConnectionOptions)
    socket.setNoDelay(true)
    socket.setKeepAlive(true)
    return socket
  } catch (error) {
    throw tlsSetUpFailure(error)
  }
}

/**
 * Wraps the caller's `checkServerIdentity`. An error that it throws could not be caught, so the wrapper returns the error: the
 * certificate is refused. An invalid result refuses the certificate, too.
 */
function withoutThrowing(check: NonNullable<TlsOptions['checkServerIdentity']>): typeof check {
  return (host, certificate) => {
    try {
      const answer: unknown = check(host, certificate)
      if (answer === undefined || answer instanceof Error) return answer
      return new Error('tls.checkServerIdentity must return an Error or undefined, at once')
    } catch (error) {
      return asError(error)
    }
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
