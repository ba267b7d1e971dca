// Faults as from a server that breaks the protocol, or is of a later release: the client receives bytes that the server did
// not send.
import { encodeMessage } from '@zk/wire'
import type { FaultOf } from '../scenario/fault.ts'
import { linksOf, type Target } from './target.ts'

/** A number that ZooKeeper has not assigned. */
const UNKNOWN_TYPE = 99
const SYNC_CONNECTED = 3

export const unknownEvent = ({ client }: FaultOf<'unknownEvent'>, target: Target): undefined => {
  const event = { type: UNKNOWN_TYPE, state: SYNC_CONNECTED, path: '/calls' }
  const frame = encodeMessage({ type: 'event', zxid: -1n, err: 0, event })
  // Before the answer to the handshake it would break the protocol.
  for (const link of linksOf(target, client)) if (link.hasSpoken) link.deliver(frame)
}

export const mangle = ({ client, how, keep: amount }: FaultOf<'mangle'>, target: Target): undefined => {
  for (const link of linksOf(target, client)) {
    link.mangle((segment, isFirst) => {
      // The answer to the handshake has no xid. A segment that is shorter than a reply is the answer to a
      // four-letter word.
      if ((how === 'xid' && isFirst) || segment.byteLength < SHORTEST_REPLY) return undefined
      return mangled[how](segment.slice(), amount)
    })
  }
}

/** Changes a segment, which begins with a frame. */
const mangled: Readonly<Record<FaultOf<'mangle'>['how'], (segment: Uint8Array, amount: number) => Uint8Array>> = {
  length: (segment, amount) => {
    viewOf(segment).setInt32(0, amount % 2 === 0 ? -1 - amount : 2 ** 31 - 1)
    return segment
  },
  // The client waits for the rest, and takes any later bytes for it.
  long: (segment, amount) => {
    const view = viewOf(segment)
    view.setInt32(0, view.getInt32(0) + 1_000 * (1 + amount))
    return segment
  },
  xid: (segment, amount) => {
    const view = viewOf(segment)
    view.setInt32(LENGTH_SIZE, view.getInt32(LENGTH_SIZE) + 1_000_000 + amount)
    return segment
  },
  cut: (segment, amount) => {
    const view = viewOf(segment)
    const size = view.getInt32(0)
    const left = amount % Math.min(size, SHORTEST_HANDSHAKE)
    view.setInt32(0, left)
    segment.copyWithin(LENGTH_SIZE + left, LENGTH_SIZE + size)
    return segment.subarray(0, segment.byteLength - (size - left))
  },
}

/** The size of the length before each frame, in bytes. */
const LENGTH_SIZE = 4
/** The size of a header, with the length before it. */
const SHORTEST_REPLY = LENGTH_SIZE + 16
/** The size of a whole answer to the handshake from a server before 3.4. */
const SHORTEST_HANDSHAKE = 36

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}
