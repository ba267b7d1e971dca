// What this package adds to a program that uses all of it: bundled, minified, gzipped. Neither the names of its exports
// are counted, because no such program contains them, nor the line of the program that uses it.
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { expect, test } from 'vitest'
import * as wire from '../src/index.ts'

const LIMIT = 9_400
const index = fileURLToPath(new URL('../src/index.ts', import.meta.url))

test('the package takes at most 9.4 kB of a program that uses all of it', async () => {
  const uses = Object.keys(wire)
    .toSorted()
    .map((name) => `wire.${name}`)
  const size = await sizeOf(`import * as wire from ${JSON.stringify(index)}; globalThis.used = [${uses.join()}]`)
  expect(size).toBeLessThanOrEqual(LIMIT)
  // As much as is promised, and not because most of it was left out.
  expect(size).toBeGreaterThan(LIMIT - 1_000)
})

test('a program that only cuts and reads frames takes less than half', async () => {
  const program = `import { FrameDecoder, Reader } from ${JSON.stringify(index)}; globalThis.used = [FrameDecoder, Reader]`
  expect(await sizeOf(program)).toBeLessThan(LIMIT / 2)
})

async function sizeOf(source: string): Promise<number> {
  const bundle = await rolldown({
    input: 'program',
    plugins: [
      {
        name: 'program',
        resolveId: (id) => (id === 'program' ? id : null),
        load: (id) => (id === 'program' ? source : null),
      },
    ],
  })
  const { output } = await bundle.generate({ minify: true })
  await bundle.close()
  const [added, program, ...others] = output[0].code.split('globalThis.used')
  if (program === undefined || others.length > 0)
    throw new Error('the program cannot be distinguished from what it uses')
  return gzipSync(added!, { level: 9 }).byteLength
}
