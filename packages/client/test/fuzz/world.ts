// A virtual world in which every connection of the client is tapped.
import { getHeapStatistics } from 'node:v8'
import type { ConnectionHandler, DialTarget, RuntimeConnection } from '../../src/index.ts'
import { VirtualWorld } from '../support/index.ts'
import { Wiretap } from './wiretap.ts'

/** What a chunk may make the client allocate at once, in bytes: so much for each of its bytes, and so much besides. */
const PER_BYTE = 64
const BESIDES = 8 * 1024 * 1024

export class TappedWorld extends VirtualWorld {
  /** All connections, in the order in which they were dialed. */
  readonly taps: Wiretap[] = []

  /** How much the client was given. */
  get bytes(): number {
    return this.taps.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  override dial(target: DialTarget, handler: ConnectionHandler): RuntimeConnection {
    const tap = new Wiretap()
    // Added before the server sees the connection, because the server looks it up here.
    this.taps.push(tap)
    const connection = super.dial(target, {
      opened: () => handler.opened(),
      drained: () => handler.drained(),
      received: (bytes) => {
        // A copy: the memory is used again.
        tap.receive(bytes.slice())
        weighed(bytes.byteLength, () => handler.received(bytes))
      },
      lost: (error) => {
        tap.isOpen = false
        handler.lost(error)
      },
    })
    return {
      write: (bytes) => connection.write(bytes),
      close: () => {
        tap.isOpen = false
        connection.close()
      },
    }
  }
}

/** Throws where memory follows what a length says instead of what has come. */
function weighed(size: number, act: () => void): void {
  const before = inUse()
  act()
  const grown = inUse() - before
  if (grown > BESIDES + PER_BYTE * size) throw new Error(`${size} bytes made the client allocate ${grown}`)
}

function inUse(): number {
  const { used_heap_size: heap, external_memory: buffers } = getHeapStatistics()
  return heap + buffers
}
