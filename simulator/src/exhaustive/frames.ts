// Frames under way, one by one, each with a name.
import { OpCode, Reader, Xid } from '@zk/wire'

export interface Frame {
  readonly bytes: Uint8Array
  /** The operations in it. */
  readonly ops: readonly Operation[]
}

export interface Operation {
  readonly name: string
  /** Of a request that reads one node, the node. */
  readonly path?: string
}

const names = new Map<number, string>(Object.entries(OpCode).map(([name, code]) => [code, name]))

const LENGTH = 4
/** Behind the length: the xid and the type. */
const HEADER = 8

/** Requests that read one node. The path comes first in them. */
const OF_ONE_NODE = new Set<number>([OpCode.getData, OpCode.getChildren2, OpCode.exists])

/** Names the frames of one connection, in both directions. */
export class Namer {
  readonly #asked = new Map<number, string>([[Xid.ping, 'ping']])
  #isFirstUp = true
  #isFirstDown = true

  up(frame: Uint8Array): Operation {
    if (this.#isFirstUp) {
      this.#isFirstUp = false
      return { name: 'connect' }
    }
    const view = viewOf(frame)
    const code = view.getInt32(LENGTH + 4)
    const name = names.get(code) ?? 'unknown'
    this.#asked.set(view.getInt32(LENGTH), name)
    return OF_ONE_NODE.has(code)
      ? { name, path: new Reader(frame.subarray(LENGTH + HEADER)).ustring() ?? '' }
      : { name }
  }

  down(frame: Uint8Array): Operation {
    if (this.#isFirstDown) {
      this.#isFirstDown = false
      return { name: 'connect' }
    }
    const xid = viewOf(frame).getInt32(LENGTH)
    return { name: xid === Xid.notification ? 'event' : (this.#asked.get(xid) ?? 'unknown') }
  }
}

/** A segment of whole frames: each for itself, or together. Then its frames arrive at once. */
export function framesOf(
  segment: Uint8Array,
  describe: (frame: Uint8Array) => Operation,
  isKeptTogether: boolean,
): Frame[] {
  const frames: Frame[] = []
  for (let at = 0; at < segment.byteLength;) {
    const end = at + LENGTH + viewOf(segment).getInt32(at)
    const bytes = segment.slice(at, end)
    frames.push({ bytes, ops: [describe(bytes)] })
    at = end
  }
  return isKeptTogether ? [{ bytes: segment.slice(), ops: frames.flatMap(({ ops }) => ops) }] : frames
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}
