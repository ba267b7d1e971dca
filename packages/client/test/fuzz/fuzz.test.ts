// The whole client on a network that breaks every rule. Long form: ZK_FUZZ_BYTES=100000000; one case alone: ZK_FUZZ_SEED.
import { expect, test } from 'vitest'
import { type Ending, playCase } from './fuzz-case.ts'

const BYTES = Number(process.env['ZK_FUZZ_BYTES'] ?? 200_000)
const SEED = process.env['ZK_FUZZ_SEED']
/** The long form says how far it is so often, in ms. */
const REPORT_EVERY = 10_000
/** Above all that one case needs after another, in bytes. */
const MOST_MEMORY = 256 * 1024 * 1024

if (SEED === undefined) {
  test('A seed plays the same again, byte by byte, and another one does not', async () => {
    const [one, again, other] = [await playCase(7), await playCase(7), await playCase(8)]
    expect(again).toEqual(one)
    expect(other.story).not.toEqual(one.story)
  })

  test(
    `ZooKeeper rejects with what is documented, and is well again, after ${BYTES} bytes of a hostile network (I12, I13, I16)`,
    { timeout: 60_000 + BYTES / 50 },
    () => playCases(BYTES),
  )
} else {
  test(`ZooKeeper on the hostile network of seed ${SEED}`, async () => {
    expect((await playCase(Number(SEED))).story).not.toEqual([])
  })
}

async function playCases(most: number): Promise<void> {
  const endings: Record<Ending, number> = { recovered: 0, renewed: 0, final: 0, unreached: 0 }
  const sum = { bytes: 0, calls: 0, failed: 0 }
  const started = performance.now()
  let reported = started
  for (let seed = 1; sum.bytes < most; seed++) {
    const { ending, bytes, calls, failed } = await playCase(seed)
    endings[ending]++
    sum.bytes += bytes
    sum.calls += calls
    sum.failed += failed
    if (performance.now() - reported < REPORT_EVERY) continue
    reported = performance.now()
    const { heapUsed, arrayBuffers } = process.memoryUsage()
    expect(heapUsed + arrayBuffers, 'bytes in use').toBeLessThan(MOST_MEMORY)
    console.log(`${Math.round((reported - started) / 1_000)} s: ${seed} seeds`, sum, endings)
  }
  // Were none to fail, or all, the cases would prove nothing.
  expect(Math.min(...Object.values(endings))).toBeGreaterThan(0)
  expect(sum.failed).toBeGreaterThan(sum.calls / 20)
  expect(sum.failed).toBeLessThan(sum.calls * 0.6)
}
