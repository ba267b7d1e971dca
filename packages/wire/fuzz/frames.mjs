// Real frames to begin with: those that ZooKeeper's own classes wrote.
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

const vectors = new URL('../test/vectors/vectors.jsonl.gz', import.meta.url)
/** Longest body to begin with, in bytes: many short cases find more than a few long ones. */
const LONGEST = 2_000

/** Bodies of frames: what a client and a server say first, requests with their replies, and events. */
export function realFrames() {
  const lines = gunzipSync(readFileSync(vectors))
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  const frames = lines.filter(({ kind }) => kind === 'frame').map((line) => ({ ...line, body: bodyOf(line.hex) }))
  const bodies = (dir, what) =>
    frames.flatMap((frame) => (frame.dir === dir && what.test(frame.what) ? [frame.body] : []))
  const events = bodies('s2c', /^event$/)
  const multis = lines.filter(({ kind, hex }) => kind === 'multi' && hex.length <= 2 * LONGEST)
  const replies = lines.filter(({ kind, hex }) => kind === 'multiResponse' && hex.length <= 2 * LONGEST)
  return {
    connects: pairs(bodies('c2s', /^connect/), bodies('s2c', /^connected|^session/)),
    exchanges: [
      ...pairs(bodies('c2s', /^op/), bodies('s2c', /^op/)),
      ...multis.flatMap(({ opcode, ops, hex }) =>
        replies
          .filter(({ results }) => results.length === ops.length)
          .map((reply) => [
            Buffer.from(`fffffff8${int(opcode)}${hex}`, 'hex'),
            Buffer.from(`fffffff8000000000000000900000000${reply.hex}`, 'hex'),
          ]),
      ),
    ],
    events,
  }
}

/** The first of `some` with the first of `others` and so on, up to the end of the shorter. */
function pairs(some, others) {
  return some.slice(0, others.length).map((each, index) => [each, others[index]])
}

function bodyOf(hex) {
  return Buffer.from(hex, 'hex').subarray(4)
}

function int(value) {
  return value.toString(16).padStart(8, '0')
}
