// Programs that take a lock, on the server of the packed @zk/testing, on every runtime.
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { runOn, runtimes } from '../../test-integration/test/runtimes.ts'

const folder = join(inject('consumer'), 'programs')

beforeAll(async () => await cp(new URL('../consumer', import.meta.url), folder, { recursive: true }))

describe.each(runtimes)('$name', (runtime) => {
  test.each(['lock.mjs', 'required.cjs', 'imported.cjs'])('runs %s', async (program) => {
    expect(await runOn(runtime, join(folder, program))).toMatch(/^held true [0-9a-f]{16}\n$/)
  })
})
