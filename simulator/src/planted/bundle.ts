// The simulator with the sources of client and recipes in one file, as they are or with a bug in them.
import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import type { Edit } from './bug.ts'

const packages = fileURLToPath(new URL('../../../packages/', import.meta.url))
const sources = fileURLToPath(new URL('../../src/', import.meta.url))

/** Bundles a file of these sources, such as `runner/seed-worker.ts`, with the edits made. Throws when one does not apply. */
export async function bundle(entry: string, edits: readonly Edit[] = []): Promise<URL> {
  const left = new Set(edits)
  const build = await rolldown({
    input: join(sources, entry),
    platform: 'node',
    resolve: { conditionNames: ['@zk/source', 'import', 'node'] },
    external: /^node:/,
    plugins: [
      {
        name: 'edits',
        load: async (id) => {
          const mine = edits.filter(({ file }) => id === join(packages, ...file.split('/')))
          if (mine.length === 0) return undefined
          const code = mine.reduce(apply, await readFile(id, 'utf8'))
          for (const edit of mine) left.delete(edit)
          return { code, moduleType: 'ts' }
        },
      },
    ],
  })
  const folder = await mkdtemp(join(tmpdir(), 'zk-simulator-'))
  const file = `${folder}${sep}bundle.mjs`
  await build.write({ file, format: 'esm' })
  await build.close()
  if (left.size > 0) throw new Error(`nothing was edited: ${[...left].map(({ file }) => file).join(', ')} was not read`)
  return pathToFileURL(file)
}

function apply(code: string, { file, find, replace }: Edit): string {
  const parts = code.split(find)
  if (parts.length === 2) return parts.join(replace)
  throw new Error(`${file} has ${parts.length - 1} times what is to be replaced, not once:\n${find}`)
}
