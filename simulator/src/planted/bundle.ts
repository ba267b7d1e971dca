// The simulator with the sources of client and recipes in one file, as they are or with a bug in them.
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import type { Edit } from './bug.ts'
import { edited } from './edited.ts'

const sources = fileURLToPath(new URL('../../src/', import.meta.url))

/**
 * Bundles a file of these sources, such as `runner/seed-worker.ts`, with the edits made, into a temporary folder of its
 * own. Throws when one does not apply.
 */
export async function bundle(entry: string, edits: readonly Edit[] = []): Promise<URL> {
  const replaced = edited(edits)
  const left = new Set(replaced.keys())
  const build = await rolldown({
    input: join(sources, entry),
    platform: 'node',
    resolve: { conditionNames: ['@zk/source', 'import', 'node'] },
    external: /^node:/,
    plugins: [
      {
        name: 'edits',
        load: (id) => {
          const code = replaced.get(id)
          if (code === undefined) return undefined
          left.delete(id)
          return { code, moduleType: 'ts' }
        },
      },
    ],
  })
  const file = join(await mkdtemp(join(tmpdir(), 'zk-simulator-')), 'bundle.mjs')
  await build.write({ file, format: 'esm' })
  await build.close()
  if (left.size > 0) throw new Error(`not part of the simulator, though edited: ${[...left].join(', ')}`)
  return pathToFileURL(file)
}
