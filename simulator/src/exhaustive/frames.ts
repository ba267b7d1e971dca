// Frames under way, one by one, each with a name.
import { OpCode, Xid } from '@zk/wire'

export interface Frame {
  readonly bytes: Uint8Array
  /** The names of the operations in it. */
  readonly ops: readonly string[]
}

const names = new Map<number, string>(Object.entries(OpCode).map(([name, code]) => [code, name]))

const LENGTH = 4

/** Names the frames of one connection, in both directions. */
export class Namer {
  readonly #asked = new Map<number, string>([[Xid.ping, 'ping']])
  #isFirstUp = true
  #isFirstDown = true

  up(frame: Uint8Array): string {
    if (this.#isFirstUp) {
      this.#isFirstUp = false
      return 'connect'
    }
    const view = viewOf(frame)
    const name = names.get(view.getInt32(LENGTH + 4)) ?? 'unknown'
    this.#asked.set(view.getInt32(LENGTH), name)
    return name
  }

  down(frame: Uint8Array): string {
    if (this.#isFirstDown) {
      this.#isFirstDown = false
      return 'connect'
    }
    const xid = viewOf(frame).getInt32(LENGTH)
    return xid === Xid.notification ? 'event' : (this.#asked.get(xid) ?? 'unknown')
  }
}

/** A segment of whole frames: each for itself, or together. Then its frames arrive at once. */
export function framesOf(segment: Uint8Array, name: (frame: Uint8Array) => string, isKeptTogether: boolean): Frame[] {
  const frames: Frame[] = []
  for (let at = 0; at < segment.byteLength;) {
    const end = at + LENGTH + viewOf(segment).getInt32(at)
    const bytes = segment.slice(at, end)
    frames.push({ bytes, ops: [name(bytes)] })
    at = end
  }
  return isKeptTogether ? [{ bytes: segment.slice(), ops: frames.flatMap(({ ops }) => ops) }] : frames
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}
