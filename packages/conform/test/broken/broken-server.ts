// Servers that break one clause: @zk/testing with a small edit of its source.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import type { VirtualWorld, VirtualWorldOptions } from '@zk/testing'

export interface BrokenServer {
  /** The clause that it breaks. */
  readonly clause: string
  /** What it does wrong: `fires a watch of data twice`. */
  readonly does: string
  /** The text of packages/testing/src that is replaced. It occurs once. Any white space may be between its words. */
  readonly replace: string
  readonly with: string
  /** The release that it should be. @default the newest */
  readonly release?: string
  /** Clauses that must fail, too, because they depend on what is broken. Others must not. @default none */
  readonly also?: readonly string[]
}

const folder = fileURLToPath(new URL('../../../testing/src/', import.meta.url))
const sources = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join(folder, name))
  .map((path) => ({ path, code: readFileSync(path, 'utf8') }))

/** The file in which the edit is, and its code after the edit. Throws unless the text occurs exactly once. */
export function edited({ replace, with: text }: Pick<BrokenServer, 'replace' | 'with'>): {
  readonly path: string
  readonly code: string
} {
  const words = replace.trim().split(/\s+/)
  const pattern = new RegExp(words.map((word) => escaped(word)).join('\\s+'), 'g')
  const places = sources.flatMap(({ path, code }) => {
    return [...code.matchAll(pattern)].map(({ index, 0: { length } }) => ({
      path,
      code: code.slice(0, index) + text + code.slice(index + length),
    }))
  })
  const [place] = places
  if (place !== undefined && places.length === 1) return place
  throw new Error(`packages/testing/src has ${places.length} times, not once:\n${replace}`)
}

/** Makes worlds of such servers. */
export async function worldsOf(server: BrokenServer): Promise<(options: VirtualWorldOptions) => VirtualWorld> {
  const { path, code } = edited(server)
  const build = await rolldown({
    input: join(folder, 'index.ts'),
    platform: 'node',
    resolve: { conditionNames: ['@zk/source', 'import', 'node'] },
    external: /^node:/,
    plugins: [{ name: 'broken', load: (id) => (id === path ? { code, moduleType: 'ts' } : undefined) }],
  })
  const target = mkdtempSync(join(tmpdir(), 'zk-broken-'))
  // Vitest does not transform what is in node_modules.
  const file = join(target, 'node_modules', 'testing.mjs')
  await build.write({ file, format: 'esm' })
  await build.close()
  const { VirtualWorld: World } = (await import(pathToFileURL(file).href)) as { VirtualWorld: typeof VirtualWorld }
  rmSync(target, { recursive: true })
  return (options) => new World(options)
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')
}
