// Programs that use the server of the packed @zk/testing, on every runtime.
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { runOn, runtimes } from '../../test-integration/test/support/runtimes.ts'

const folder = join(inject('consumer'), 'programs')

beforeAll(async () => {
  await cp(new URL('../consumer', import.meta.url), folder, { recursive: true })
  await cp(new URL('../../examples/dist/guide', import.meta.url), join(folder, 'guide'), { recursive: true })
  await writeFile(join(folder, 'guide/package.json'), '{ "type": "module" }')
})

describe.each(runtimes)('$name', (runtime) => {
  test.each(['lock.mjs', 'required.cjs', 'imported.cjs'])('runs %s', async (program) => {
    expect(await runOn(runtime, join(folder, program))).toMatch(/^held true [0-9a-f]{16}\n$/)
  })

  test('runs opentelemetry.mjs', async () => {
    expect(await runOn(runtime, join(folder, 'opentelemetry.mjs'))).toBe('acquire lock, hold lock\n')
  })

  test('runs the code of the guide and of the READMEs', async () => {
    expect(JSON.parse(await runOn(runtime, join(folder, 'guide.mjs')))).toEqual([
      'state connected',
      'the default',
      'one',
      'ann 90 bob 110',
      'bill ann 16',
      'bill bob 16',
      'parts 3',
      'led',
      'NodeDataChanged /config',
      'SessionEnded /config',
      'state closed',
      'handed over connected',
      expect.stringMatching(/^written with fence \d+$/),
    ])
  })
})
