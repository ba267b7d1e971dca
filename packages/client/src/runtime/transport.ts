// Opens sockets. No other file does.
import { connect, isIP, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import type { TlsOptions } from './tls.ts'
import type { RuntimeConnection, ConnectionHandler, DialTarget } from './runtime.ts'
import { ended, type Stage, tlsFailure, tlsSetUpFailure } from './tls-failure.ts'

/** `write` returns false when the socket holds so many bytes: as many as the session sends at once (`SEGMENT_SIZE`). */
const HIGH_WATER_MARK = 256 * 1024
/** The most that is read at once, in bytes: as much as the stream of a socket would read (libuv). */
const READ_SIZE = 64 * 1024

export function dial({ host, port, address = host, tls }: DialTarget, handler: ConnectionHandler): RuntimeConnection {
  // Without an address `connect` looks the name up at every call, and tries its addresses one after the other
  // (autoSelectFamily).
  const where = { host: address, port }
  let open = true
  let stage: Stage = 'dialing'
  let isSilent = true
  const received = (bytes: Uint8Array) => {
    isSilent = false
    if (open) handler.received(bytes)
  }
  const socket = tls === undefined ? plainSocket(where, received) : secureSocket(where, host, tls)
  const lose = (error: Error) => {
    if (!open) return
    open = false
    socket.destroy()
    handler.lost(tls === undefined ? error : tlsFailure(error, stage))
  }
  socket.on('connect', () => {
    if (tls !== undefined) stage = 'handshaking'
  })
  socket.on(tls === undefined ? 'connect' : 'secureConnect', () => {
    stage = 'open'
    if (open) handler.opened()
  })
  socket.on('data', received)
  socket.on('drain', () => open && handler.drained())
  socket.on('error', (error) => lose(asError(error)))
  socket.on('end', () => lose(new Error(isSilent ? ended(stage) : 'the server closed the connection')))
  socket.on('close', () => lose(new Error('the connection was closed')))
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
 * Reads into memory of its own, past the stream of the socket: that would allocate 64 KiB for each read, and cost a
 * tenth of the time of a small read. The stream still reports the end.
 */
function plainSocket(where: { host: string; port: number }, received: (bytes: Uint8Array) => void): Socket {
  const buffer = new Uint8Array(READ_SIZE)
  const callback = (size: number) => {
    received(buffer.subarray(0, size))
    return true
  }
  return connect({ ...where, noDelay: true, keepAlive: true, onread: { buffer, callback } })
}

/** Throws if the options cannot be used. */
function secureSocket(where: { host: string; port: number }, host: string, tls: TlsOptions): Socket {
  const { checkServerIdentity } = tls
  // node:tls sets no host by itself. There is no SNI for an address: then the certificate must be for the address.
  const named = isIP(host) === 0 ? { servername: host.replace(/\.$/, '') } : {}
  const checked = checkServerIdentity === undefined ? {} : { checkServerIdentity: guarded(checkServerIdentity) }
  const options: object = { ...named, ...tls, ...checked, ...where }
  try {
    const socket = connectTls(options as ConnectionOptions)
    socket.setNoDelay(true)
    socket.setKeepAlive(true)
    return socket
  } catch (error) {
    throw tlsSetUpFailure(error)
  }
}

/** An error that it throws could not be caught, so it refuses the certificate. So does an invalid result. */
function guarded(check: NonNullable<TlsOptions['checkServerIdentity']>): typeof check {
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
