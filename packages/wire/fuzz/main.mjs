// pnpm fuzz [--bytes 1e8] [--seconds 60] [--seed N] [--case K]
//
// Reads that many bytes of altered frames, or for that many seconds, and ends with 1 at the first that hurts. The same
// seed makes the same cases; `--case` runs one of them alone.
import { parseArgs } from 'node:util'
import * as wire from '@zk/wire'
import { realFrames } from './frames.mjs'
import { fuzz } from './fuzzer.mjs'

const REPORT_EVERY = 2_000
/** Above all that a case could need, in bytes. */
const MOST_MEMORY = 256 * 1024 * 1024

const { values } = parseArgs({
  options: {
    bytes: { type: 'string', default: '1e8' },
    seconds: { type: 'string', default: 'Infinity' },
    seed: { type: 'string', default: String(Date.now() % 0x7fff_ffff) },
    case: { type: 'string' },
  },
})
const [bytes, seconds, seed] = [values.bytes, values.seconds, values.seed].map(Number)
if ([bytes, seconds, seed].some(Number.isNaN)) throw new TypeError('--bytes, --seconds and --seed take numbers')

console.log(`seed ${seed}`)
const started = performance.now()
let reported = started
let last = { cases: 0, bytes: 0, messages: 0, errors: 0 }
const from = values.case === undefined ? 0 : Number(values.case)
for (const done of fuzz(wire, realFrames(), { seed, bytes, from })) {
  last = done
  const now = performance.now()
  if (values.case !== undefined || now - started > seconds * 1_000) break
  if (now - reported < REPORT_EVERY) continue
  reported = now
  report(done)
}
report(last)

function report({ cases, bytes: read, messages, errors }) {
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  const memory = heapUsed + arrayBuffers
  const took = (performance.now() - started) / 1_000
  const percent = ((100 * read) / bytes).toFixed(1)
  const mb = (memory / 1e6).toFixed(0)
  console.log(
    `${took.toFixed(0)} s: ${read} bytes (${percent} %) in ${cases} cases: ${messages} messages, ${errors} errors, ${mb} MB`,
  )
  if (memory > MOST_MEMORY) throw new Error(`${mb} MB are in use: something keeps what it has read`)
}
