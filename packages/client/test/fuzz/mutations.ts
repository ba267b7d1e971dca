// What can happen to the frames of a server on their way, by a seed.
import { ErrorCode, Xid } from '@zk/wire'
import { eventFrame, pick, replyFrame, type SeededRandom } from '../support/index.ts'

/** What arrives in place of some frames: chunks, and then perhaps no more. */
export interface Arrival {
  readonly chunks: readonly Uint8Array[]
  /** `mute`: nothing comes any more, and no party is notified. */
  readonly end?: 'fin' | 'rst' | 'mute' | undefined
}

/** Frames with their lengths in front. */
type Frames = readonly Uint8Array[]

/** Lengths, counts and codes at the ends of what they can be. */
const INTS = [0, 1, -1, -2, -4, -8, 7, 127, 128, 255, 0xffff, 0x10000, 0xfffff, 0x400001, 0x7fffffff, -0x80000000]
/** Codes of errors, known and unknown. */
const CODES = [...Object.values(ErrorCode), 1, -5, -99, -126, -128, -1_000_000]
/** Where a reply has its xid, its zxid and its err, behind the length. */
const [XID_AT, ZXID_AT, ERR_AT] = [4, 8, 16] as const

/** What becomes of frames that a hostile network carries. */
export function altered(frames: Frames, random: SeededRandom): Arrival {
  let altered = frames
  for (let more = pick(random, [0, 0, 1, 1, 2, 3]); more > 0; more--) {
    altered = pick(random, random.below(3) === 0 ? ofStreams : ofFrames)(altered, random)
  }
  let stream = joined(altered)
  const end = random.below(12) === 0 ? pick(random, ['fin', 'rst', 'mute'] as const) : undefined
  // The end may come in the middle of a frame.
  if (end !== undefined) stream = stream.subarray(0, random.below(stream.byteLength + 1))
  return { chunks: cut(stream, random), end }
}

/** Those that leave frames whole: their lengths are right, what is in them need not be. */
const ofFrames: readonly ((frames: Frames, random: SeededRandom) => Frames)[] = [
  // One frame, changed inside.
  (frames, random) => inOne(frames, random, (body) => changed(body, random, (byte) => byte ^ (1 << random.below(8)))),
  (frames, random) => inOne(frames, random, (body) => changed(body, random, () => random.below(256))),
  (frames, random) => inOne(frames, random, (body) => withInt(body, random.below(body.byteLength), pick(random, INTS))),
  (frames, random) => inOne(frames, random, (body) => withInt(body, XID_AT - 4, pick(random, [...INTS, 1, 2, 3, 4]))),
  (frames, random) => inOne(frames, random, (body) => shifted(body, pick(random, [-2, -1, 1, 2]))),
  (frames, random) => inOne(frames, random, (body) => withInt(body, ERR_AT - 4, pick(random, CODES))),
  (frames, random) => inOne(frames, random, (body) => withInt(body, ZXID_AT - 4, pick(random, INTS))),
  // One of the first fields of a reply or a handshake, which have the most meaning.
  (frames, random) => inOne(frames, random, (body) => withInt(body, 4 * random.below(6), pick(random, INTS))),
  // No long, or nothing where a field or two were.
  (frames, random) =>
    inOne(frames, random, (body) => withLong(body, 4 * random.below(6), random.below(2) === 0 ? 0 : 0xff)),
  // Cut short, and longer.
  (frames, random) => inOne(frames, random, (body) => body.subarray(0, random.below(body.byteLength + 1))),
  (frames, random) => inOne(frames, random, (body) => joined([body, garbage(random)])),
  (frames, random) => inOne(frames, random, (body) => spliced(body, random)),
  // One frame from two: the head of the first, the tail of the second.
  (frames, random) =>
    inOne(frames, random, (body) => {
      const other = pick(random, frames).subarray(4)
      const at = random.below(Math.min(body.byteLength, other.byteLength) + 1)
      return joined([body.subarray(0, at), other.subarray(at)])
    }),
  // Frames in another order, twice, not at all.
  (frames, random) => shuffled(frames, random),
  (frames) => frames.toReversed(),
  (frames, random) => inserted(frames, random, pick(random, frames)),
  (frames, random) => frames.toSpliced(random.below(frames.length), 1),
  // Unexpected frames.
  (frames, random) => inserted(frames, random, withLength(garbage(random))),
  (frames, random) => inserted(frames, random, eventFrame(random.below(12) - 2, pick(random, PATHS))),
  (frames, random) => inserted(frames, random, eventFrame(3, '/k1', { state: random.below(200) - 120 })),
  (frames, random) => inserted(frames, random, replyFrame({ xid: Xid.ping, err: pick(random, CODES) })),
  (frames, random) => inserted(frames, random, replyFrame({ xid: Xid.auth, err: pick(random, [0, 0, 0, -115, -4]) })),
  (frames, random) => inserted(frames, random, replyFrame({ xid: random.below(20), err: pick(random, CODES) })),
]

const PATHS = ['/', '/k1', '/k1/a', '/k2', '/chroot/k1', '', null]

/** Those that know no frames, lengths least of all. */
const ofStreams: readonly ((frames: Frames, random: SeededRandom) => Frames)[] = [
  (frames, random) => [changed(joined(frames), random, (byte) => byte ^ (1 << random.below(8)))],
  (frames, random) => [spliced(joined(frames), random)],
  (frames, random) => inserted(frames, random, garbage(random)),
  (frames, random) => inserted(frames, random, words),
  // The length of one frame says something else.
  (frames, random) => {
    const index = random.below(frames.length)
    const frame = frames[index]
    if (frame === undefined) return frames
    const near = frame.byteLength - 8 + random.below(9)
    return frames.with(index, withInt(frame, 0, pick(random, [...INTS, near, near, near])))
  },
]

const words = new TextEncoder().encode('This ZooKeeper instance is not currently serving requests\n')

// --- bytes --------------------------------------------------------------------------------------------------------

export function joined(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(parts))
}

export function withLength(body: Uint8Array): Uint8Array {
  return joined([withInt(new Uint8Array(4), 0, body.byteLength), body])
}

function inOne(frames: Frames, random: SeededRandom, change: (body: Uint8Array) => Uint8Array): Frames {
  const index = random.below(frames.length)
  const frame = frames[index]
  return frame === undefined ? frames : frames.with(index, withLength(change(frame.subarray(4))))
}

function inserted(frames: Frames, random: SeededRandom, more: Uint8Array | undefined): Frames {
  return more === undefined ? frames : frames.toSpliced(random.below(frames.length + 1), 0, more)
}

function shuffled(frames: Frames, random: SeededRandom): Frames {
  const keyed = frames.map((frame) => [random.next(), frame] as const)
  return keyed.sort(([one], [other]) => one - other).map(([, frame]) => frame)
}

function changed(bytes: Uint8Array, random: SeededRandom, change: (byte: number) => number): Uint8Array {
  const at = random.below(bytes.byteLength)
  return bytes.byteLength === 0 ? bytes : bytes.with(at, change(bytes[at]!))
}

function withInt(bytes: Uint8Array, at: number, value: number): Uint8Array {
  const copy = Uint8Array.from(bytes)
  if (at + 4 <= copy.byteLength) new DataView(copy.buffer).setInt32(at, value)
  return copy
}

function withLong(bytes: Uint8Array, at: number, byte: number): Uint8Array {
  return Uint8Array.from(bytes).fill(byte, at, at + 8)
}

/** With the xid of a neighbour. */
function shifted(body: Uint8Array, by: number): Uint8Array {
  if (body.byteLength < 4) return body
  const xid = new DataView(body.buffer, body.byteOffset).getInt32(0)
  return withInt(body, 0, xid + by)
}

/** Some bytes missing, some in their place. */
function spliced(bytes: Uint8Array, random: SeededRandom): Uint8Array {
  const at = random.below(bytes.byteLength + 1)
  return joined([bytes.subarray(0, at), garbage(random), bytes.subarray(at + random.below(16))])
}

function garbage(random: SeededRandom): Uint8Array {
  return Uint8Array.from({ length: random.below(24) }, () => random.below(random.below(2) === 0 ? 256 : 4))
}

function cut(stream: Uint8Array, random: SeededRandom): Uint8Array[] {
  // Byte by byte only for a while: a turn of the world for each byte of a long reply shows nothing more.
  const longest = pick(random, [stream.byteLength, stream.byteLength, 1 + (stream.byteLength >> 1), 100, 7, 1])
  const chunks: Uint8Array[] = []
  for (let at = 0; at < stream.byteLength;) {
    const size = chunks.length > 100 ? stream.byteLength : 1 + random.below(longest)
    chunks.push(stream.subarray(at, at + size))
    at += size
  }
  return chunks
}
