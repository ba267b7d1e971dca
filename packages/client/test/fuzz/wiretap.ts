// What a client was given on one connection, and what no client may make of it. The reading of frames here is its own: were
// it the client's, both would be wrong together.
import { ErrorCode, FrameDecoder, OpCode, Xid } from '@zk/wire'
import { joined } from './mutations.ts'
import { sealsIn } from './seals.ts'

const HEADER_SIZE = 16
const SHORTEST_HANDSHAKE = 20
const LONGEST_DROPPED = 64 * 1024 * 1024

interface Frame {
  readonly bytes: Uint8Array
  readonly view: DataView
}

export class Wiretap {
  /** Nobody has closed it. */
  isOpen = true
  /** The client has asked to close the session, and takes nothing more. */
  hasLeft = false
  bytes = 0
  /** What the client asked for, in the order of replies: not pings and credentials. */
  readonly #asked: { readonly xid: number; readonly seals: readonly string[] }[] = []
  readonly #requests = new FrameDecoder()
  #hasSent = false
  readonly #chunks: Uint8Array[] = []

  /** The client has sent this. Returns whether it is the handshake. */
  sent(bytes: Uint8Array): boolean {
    const isHandshake = !this.#hasSent
    this.#hasSent = true
    this.#requests.push(bytes.slice())
    if (isHandshake) this.#requests.next()
    for (let frame = this.#requests.next(); frame !== undefined; frame = this.#requests.next()) {
      const header = new DataView(frame.buffer, frame.byteOffset)
      const [xid, opCode] = [header.getInt32(0), header.getInt32(4)]
      if (opCode === OpCode.closeSession) this.hasLeft = true
      if (opCode !== OpCode.ping && opCode !== OpCode.auth) this.#asked.push({ xid, seals: sealsIn(frame) })
    }
    return isHandshake
  }

  /** The client was given this. */
  received(chunk: Uint8Array): void {
    this.bytes += chunk.byteLength
    this.#chunks.push(chunk)
  }

  /** Why no client may go on with this connection; undefined where it may. */
  fault(maxResponseSize: number): string | undefined {
    const { frames, length, begun } = this.#read()
    const [handshake, ...replies] = frames
    const isTooLarge = length > maxResponseSize
    // The rest of a reply that is too large is dropped, if its header is that of the reply that is due.
    const mayBeReply = handshake !== undefined && length <= LONGEST_DROPPED
    if (length < 0 || (isTooLarge && !mayBeReply)) return `a frame of ${length} bytes`
    if (handshake === undefined) return undefined
    const hasHeader = isTooLarge && begun.bytes.byteLength >= HEADER_SIZE
    if (hasHeader && begun.view.getInt32(0) < 0) return `a frame of ${length} bytes`
    return handshakeFault(handshake) ?? this.#orderFault(hasHeader ? [...replies, begun] : replies)
  }

  /** The timeout that the handshake gave, if there was one. */
  get timeout(): number | undefined {
    const [handshake] = this.#read().frames
    return handshake === undefined || handshake.bytes.byteLength < 8 ? undefined : handshake.view.getInt32(4)
  }

  /** The session that the handshake gave, if there was one. */
  get session(): bigint | undefined {
    const [handshake] = this.#read().frames
    return handshake === undefined || handshake.bytes.byteLength < 16 ? undefined : handshake.view.getBigInt64(8)
  }

  /** The codes of all frames, wherever they stand: what the server may seem to have sent. */
  get codes(): { readonly xid: number; readonly err: number }[] {
    const { frames } = this.#read()
    const whole = frames.slice(1).filter(({ bytes }) => bytes.byteLength >= HEADER_SIZE)
    return whole.map(({ view }) => ({ xid: view.getInt32(0), err: view.getInt32(12) }))
  }

  /** Whether what holds this seal came as the answer to a question that holds the other one. */
  answered(question: string, seal: string): boolean {
    const { frames } = this.#read()
    return this.#asked.some(
      ({ xid, seals }) =>
        seals.includes(question) &&
        frames.some(({ bytes, view }) => bytes.byteLength >= 4 && view.getInt32(0) === xid && holds(bytes, seal)),
    )
  }

  #orderFault(replies: readonly Frame[]): string | undefined {
    let next = 0
    for (const { bytes, view } of replies) {
      if (bytes.byteLength < HEADER_SIZE) return `a reply of ${bytes.byteLength} bytes`
      const [xid, err] = [view.getInt32(0), view.getInt32(12)]
      const isRefusal = xid === Xid.auth ? err !== ErrorCode.Ok : err === ErrorCode.SessionClosedRequireSaslAuth
      if (isRefusal && (xid === Xid.auth || xid === Xid.ping)) return `credentials refused with ${err}`
      // A server refuses what it does not know ahead of all that was asked before.
      if (err === ErrorCode.Unimplemented && xid !== Xid.notification) return undefined
      if (xid === Xid.notification || xid === Xid.ping || xid === Xid.auth) continue
      const due = this.#asked[next++]?.xid
      if (xid !== due) return `a reply with xid ${xid} in place of ${due}`
      if (err === ErrorCode.SessionExpired || err === ErrorCode.SessionMoved) return `a reply with err ${err}`
    }
    return undefined
  }

  /** `length` is that of the frame which has begun. */
  #read(): { readonly frames: Frame[]; readonly length: number; readonly begun: Frame } {
    const stream = joined(this.#chunks)
    const view = new DataView(stream.buffer)
    const frames: Frame[] = []
    for (let at = 0; ;) {
      const length = at + 4 <= stream.byteLength ? view.getInt32(at) : 0
      const end = at + 4 + length
      if (length < 0 || end > stream.byteLength) {
        const start = Math.min(at + 4, stream.byteLength)
        return { frames, length, begun: { bytes: stream.subarray(start), view: new DataView(stream.buffer, start) } }
      }
      const bytes = stream.subarray(at + 4, end)
      frames.push({ bytes, view: new DataView(stream.buffer, at + 4, length) })
      at = end
    }
  }
}

function handshakeFault({ bytes, view }: Frame): string | undefined {
  if (bytes.byteLength < SHORTEST_HANDSHAKE) return `a handshake of ${bytes.byteLength} bytes`
  if (view.getInt32(4) <= 0) return 'the end of the session'
  return view.getBigInt64(8) === 0n ? 'a handshake with session id 0' : undefined
}

const holds = (bytes: Uint8Array, seal: string) => sealsIn(bytes).includes(seal)
