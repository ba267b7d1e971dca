// The network between a client and sound servers: it taps every connection, and alters what servers send.
import { getHeapStatistics } from 'node:v8'
import type { VirtualProcess } from '@zk/testing'
import { FrameDecoder } from '@zk/wire'
import type { ConnectionHandler, DialTarget, Runtime, RuntimeConnection } from '../../src/index.ts'
import { type Arrival, withLength } from './mutations.ts'
import { Wiretap } from './wiretap.ts'

/** What a chunk may make the client allocate at once, in bytes: so much for each of its bytes, and so much besides. */
const PER_BYTE = 64
const BESIDES = 8 * 1024 * 1024
/** Where the first frame of a client has the last zxid that it has seen, and how long that is. */
const [LAST_ZXID_AT, LAST_ZXID_SIZE] = [8, 8]

export class HostileNetwork {
  /** All connections, in the order in which they were dialed. */
  readonly taps: Wiretap[] = []
  /** Whether servers believe that no client has seen more than they have: a mutation may have pretended a future zxid. */
  hidesZxids = false
  readonly runtime: Runtime
  readonly #process: VirtualProcess
  readonly #alter: (frames: readonly Uint8Array[]) => Arrival

  constructor(process: VirtualProcess, alter: (frames: readonly Uint8Array[]) => Arrival) {
    this.#process = process
    this.#alter = alter
    this.runtime = {
      now: () => process.now(),
      wallNow: () => process.wallNow(),
      setTimer: (delay, callback) => process.setTimer(delay, callback),
      random: () => process.random(),
      uuid: () => process.uuid(),
      resolve: process.resolve?.bind(process),
      dial: (target, handler) => this.#dial(target, handler),
    }
  }

  /** How much the client was given. */
  get bytes(): number {
    return this.taps.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  #dial(target: DialTarget, handler: ConnectionHandler): RuntimeConnection {
    const tap = new Wiretap()
    this.taps.push(tap)
    const decoder = new FrameDecoder()
    let hasEnded = false
    // Each piece of news comes in a turn of its own, in order.
    const tell = (news: () => void) =>
      this.#process.setTimer(0, () => {
        if (tap.isOpen) news()
      })
    const lose = (error: Error) =>
      tell(() => {
        tap.isOpen = false
        handler.lost(error)
      })
    const connection = this.#process.dial(target, {
      opened: () => tell(() => handler.opened()),
      drained: () => tell(() => handler.drained()),
      lost: lose,
      received: (bytes) => {
        if (hasEnded) return
        const { chunks, end } = this.#alter(framesOf(decoder, bytes))
        for (const chunk of chunks) tell(() => give(chunk, tap, handler))
        if (end === undefined) return
        hasEnded = true
        if (end === 'mute') return
        connection.close()
        lose(new Error('read ECONNRESET'))
      },
    })
    return {
      write: (bytes) => {
        const isFirst = tap.sent(bytes)
        const hides = isFirst && this.hidesZxids
        return connection.write(hides ? bytes.slice().fill(0, LAST_ZXID_AT, LAST_ZXID_AT + LAST_ZXID_SIZE) : bytes)
      },
      close: () => {
        tap.isOpen = false
        connection.close()
      },
    }
  }
}

function framesOf(decoder: FrameDecoder, bytes: Uint8Array): Uint8Array[] {
  decoder.push(bytes)
  const frames: Uint8Array[] = []
  for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) frames.push(withLength(frame))
  return frames
}

function give(chunk: Uint8Array, tap: Wiretap, handler: ConnectionHandler): void {
  tap.received(chunk)
  const memory = chunk.slice()
  weighed(memory.byteLength, () => handler.received(memory))
  // The memory is used again, as that of a socket is.
  memory.fill(0xee)
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
