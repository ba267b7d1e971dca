// The same seeds give the same histories, byte for byte, on every runtime.
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundle } from '../src/planted/plant.ts'
import { runOn, runtimes } from './support/runtimes.ts'

// The hash of 100 seeds. It changes whenever a history changes: a workload, a fault, a message of a client or server, or its time.
const golden = new URL('golden.txt', import.meta.url)
const TIMEOUT = 120_000

describe('goldenHash', () => {
  let program: string

  beforeAll(async () => {
    program = fileURLToPath(await bundle('commands/golden.ts'))
  }, TIMEOUT)

  afterAll(() => rmSync(dirname(program), { recursive: true }))

  test.each(runtimes)(
    'goldenHash of 100 seeds on $name is what it was',
    async (runtime) => {
      const hash = await runOn(runtime, program)
      if (process.env['UPDATE_GOLDEN'] === '1' && runtime === runtimes[0]) writeFileSync(golden, hash)
      expect(hash, 'changed on purpose? UPDATE_GOLDEN=1 writes it anew').toBe(readFileSync(golden, 'utf8'))
    },
    TIMEOUT,
  )
})
