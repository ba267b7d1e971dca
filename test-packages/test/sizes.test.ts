// What the packed packages add to a program: bundled, minified, gzipped.
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import * as wire from '@zk/wire'
import { rolldown } from 'rolldown'
import { expect, inject, test } from 'vitest'

const folder = inject('consumer')

/** Without the names of its exports, which no program contains. */
const allOfWire = Object.keys(wire).map((name) => `wire.${name}`)

/**
 * Upper bounds in bytes, a little above the last measured sizes. A commit that raises one gives the reason. A commit that saves
 * more than `SLACK` lowers the bound, so that the saving is not lost unnoticed.
 */
const SLACK = 1_500
const programs: [what: string, program: string, bound: number][] = [
  ['all of @zk/wire', `import * as wire from '@zk/wire'; globalThis.used = [${allOfWire.join()}]`, 9_600],
  ['connect', `import { connect } from '@zk/client'; globalThis.used = connect`, 48_300],
  ['connect and Lock', `import { connect, Lock } from '@zk/recipes'; globalThis.used = [connect, Lock]`, 64_850],
  ['connect and Mirror', `import { connect, Mirror } from '@zk/recipes'; globalThis.used = [connect, Mirror]`, 58_050],
]

test.each(programs)('%s is no larger than it was', async (what, program, bound) => {
  const size = await sizeOf(program)
  console.log(`${what}: ${size} bytes, minified and gzipped`)
  expect(size).toBeLessThanOrEqual(bound)
  expect(size).toBeGreaterThan(bound - SLACK)
})

async function sizeOf(program: string): Promise<number> {
  const entry = join(folder, 'program.js')
  const bundle = await rolldown({
    input: entry,
    external: /^node:/,
    plugins: [
      { name: 'program', load: (id) => (id === entry ? program : null), resolveId: (id) => (id === entry ? id : null) },
    ],
  })
  const { output } = await bundle.generate({ minify: true, comments: false })
  await bundle.close()
  return gzipSync(output[0].code, { level: 9 }).byteLength
}
