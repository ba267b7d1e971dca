// Seeded mutations of real frames through FrameDecoder and the message layer. A case is a conversation: what a client
// and a server could say to each other, altered, cut into chunks and read. Nothing may come of it but messages, each of
// which is written and read again, and `ProtocolError`s; and a message may weigh no more than the bytes that it came
// from.
import { isDeepStrictEqual } from 'node:util'
import { mutate } from './mutations.mjs'
import { randomOf } from './random.mjs'

const MOST_EXCHANGES = 6
/** Low, so that it is reached. */
const PENDING_LIMIT = 4
/** Objects, items and characters that one byte may become, and what a message has besides. */
const WEIGHT_PER_BYTE = 1
const WEIGHT_BESIDES = 40

/** Runs cases from `from` on until `bytes` were read, and yields what was done after each. */
export function* fuzz(wire, frames, { seed, bytes, from = 0 }) {
  const done = { cases: 0, bytes: 0, messages: 0, errors: 0, next: from }
  while (done.bytes < bytes) {
    const index = done.next
    try {
      runCase(wire, frames, randomOf(seed, index), done)
    } catch (cause) {
      throw new Error(`case ${index} of seed ${seed} fails; again with --seed ${seed} --case ${index}`, { cause })
    }
    done.cases++
    done.next++
    yield done
  }
}

function runCase(wire, frames, random, done) {
  const { asking, answers } = conversationOf(frames, random)
  const conversation = new wire.Conversation({ pendingLimit: PENDING_LIMIT })
  const directions = [
    { decoder: conversation.fromClient, stream: streamOf(asking, random), decode: wire.decodeClientFrame },
    {
      decoder: conversation.fromServer,
      stream: streamOf(answers, random),
      decode: (frame, first, message) => wire.decodeServerFrame(frame, first, () => message),
    },
  ]
  for (const { decoder, stream, decode } of directions) {
    for (const chunk of chunksOf(stream, random)) {
      decoder.push(chunk)
      done.bytes += chunk.byteLength
      for (const outcome of outcomesOf(wire, decoder)) {
        if (outcome.error !== undefined) done.errors++
        else {
          check(wire, outcome.message, decode)
          done.messages++
        }
      }
      if (conversation.pending > PENDING_LIMIT) throw new Error(`${conversation.pending} requests are pending`)
    }
  }
}

/** Frames of a client and of a server, bodies only. Of each exchange both, so that the reply fits the request. */
function conversationOf({ connects, exchanges, events }, random) {
  const [connect, connected] = random.pick(connects)
  const asking = [connect]
  const answers = [connected]
  for (let xid = 1 + random.below(MOST_EXCHANGES); xid > 0; xid--) {
    const [request, reply] = random.pick(exchanges)
    asking.push(withXid(request, xid))
    answers.push(withXid(reply, xid))
    if (random.below(4) === 0) answers.push(random.pick(events))
  }
  return { asking, answers }
}

/** Pings and auth keep their own. */
function withXid(body, xid) {
  const copy = Uint8Array.from(body)
  const view = new DataView(copy.buffer)
  if (view.getInt32(0) === -8) view.setInt32(0, xid)
  return copy
}

/** Most frames as they are, some altered inside, and sometimes the whole stream altered with the lengths in it. */
function streamOf(bodies, random) {
  const altered = bodies.map((body) => (random.below(3) === 0 ? mutate(body, random) : body))
  const stream = Buffer.concat(
    altered.flatMap((body) => {
      const length = Buffer.alloc(4)
      length.writeInt32BE(body.byteLength)
      return [length, body]
    }),
  )
  const whole = new Uint8Array(stream)
  return random.below(4) === 0 ? mutate(whole, random) : whole
}

function* chunksOf(stream, random) {
  const longest = random.pick([1, 7, 100, stream.byteLength + 1])
  for (let at = 0; at < stream.byteLength;) {
    const size = 1 + random.below(longest)
    yield stream.subarray(at, at + size)
    at += size
  }
}

/** What the decoder makes of what it has. It may go on behind an error, unless it gives the same one for ever. */
function* outcomesOf(wire, decoder) {
  let last
  for (;;) {
    try {
      const message = decoder.next()
      if (message === undefined) return
      yield { message }
    } catch (error) {
      if (!(error instanceof wire.ProtocolError)) throw error
      if (error === last) return
      last = error
      yield { error }
    }
  }
}

function check(wire, message, decode) {
  const bytes = wire.encodeMessage(message)
  const weight = weightOf(message)
  if (weight > WEIGHT_PER_BYTE * bytes.byteLength + WEIGHT_BESIDES) {
    throw new Error(`${bytes.byteLength} bytes became a message of weight ${weight}`)
  }
  if (message.type === 'text') return
  const first = message.type.startsWith('connect') || (message.type === 'reply' && message.opCode === undefined)
  const again = decode(bytes.subarray(4), first, message)
  if (!isDeepStrictEqual(again, message)) {
    throw new Error(`not the same after writing and reading: ${Buffer.from(bytes).toString('hex')}`)
  }
}

/** Items, fields and characters. */
function weightOf(value) {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 1
  if (value instanceof Uint8Array) return value.byteLength
  return Object.values(value).reduce((sum, each) => sum + weightOf(each), 0)
}
