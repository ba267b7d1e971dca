// The simulator with the sources of client and recipes in one file, as they are or with a bug in them.
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import type { PlantedBug } from './bug.ts'

const packages = fileURLToPath(new URL('../../../packages/', import.meta.url))
const simulator = fileURLToPath(new URL('../../src/', import.meta.url))

/** The file in which the bug is, and its code with the bug. Throws unless its text occurs exactly once. */
export function planted(bug: Pick<PlantedBug, 'replace' | 'with'>): { readonly path: string; readonly code: string } {
  const words = bug.replace.trim().split(/\s+/)
  const pattern = new RegExp(words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s+'), 'g')
  const places = sources().flatMap((path) => {
    const code = readFileSync(path, 'utf8')
    return [...code.matchAll(pattern)].map(({ index, 0: { length } }) => ({
      path,
      code: code.slice(0, index) + bug.with + code.slice(index + length),
    }))
  })
  const [place] = places
  if (place !== undefined && places.length === 1) return place
  throw new Error(`client and recipes have ${places.length} times, not once:\n${bug.replace}`)
}

function sources(): string[] {
  const folders = ['client', 'recipes'].map((name) => join(packages, name, 'src'))
  const files = (folder: string) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))
  return folders.flatMap(files).filter((path) => path.endsWith('.ts'))
}

/** Bundles a file of the simulator, such as `runner/seed-worker.ts`, into a temporary folder of its own. */
export async function bundle(entry: string, bug?: Pick<PlantedBug, 'replace' | 'with'>): Promise<URL> {
  const { path, code } = bug === undefined ? {} : planted(bug)
  const build = await rolldown({
    input: join(simulator, entry),
    platform: 'node',
    resolve: { conditionNames: ['@zk/source', 'import', 'node'] },
    external: /^node:/,
    plugins: [
      { name: 'bug', load: (id) => (code !== undefined && id === path ? { code, moduleType: 'ts' } : undefined) },
    ],
  })
  const file = join(await mkdtemp(join(tmpdir(), 'zk-simulator-')), 'bundle.mjs')
  await build.write({ file, format: 'esm' })
  await build.close()
  return pathToFileURL(file)
}
