// The one file that opens sockets.
import { connect } from 'node:net'
import type { Connection, ConnectionHandler, DialTarget } from './runtime.ts'

/** Bytes the socket may hold for a peer that does not read, before `write` asks to wait. */
const HIGH_WATER_MARK = 256 * 1024

export function dial({ host, port }: DialTarget, handler: ConnectionHandler): Connection {
  // `connect` looks the name up at every call, and tries its addresses one after the other (autoSelectFamily).
  const socket = connect({ host, port, noDelay: true, keepAlive: true })
  let open = true
  const lose = (error: Error) => {
    if (!open) return
    open = false
    socket.destroy()
    handler.lost(error)
  }
  socket.on('connect', () => open && handler.opened())
  socket.on('data', (bytes) => open && handler.received(bytes))
  socket.on('drain', () => open && handler.drained())
  socket.on('error', lose)
  socket.on('end', () => lose(new Error('the server closed the connection')))
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
