// Clients that leave out one duty: ours with a small edit of its source.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import type { connect } from '@zk/client'

export interface BrokenClient {
  readonly duty: number
  /** What it does wrong: `pings too late`. */
  readonly does: string
  /** The text of packages/client/src that is replaced. It occurs once. Any white space may be between its words. */
  readonly replace: string
  readonly with: string
  /** Duties that it must break, too, because they depend on what is broken. Others it must keep. @default none */
  readonly also?: readonly number[]
}

const folder = fileURLToPath(new URL('../../../client/src/', import.meta.url))
const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => join(folder, name))

/** The file in which the edit is, and its code after the edit. Throws unless the text occurs exactly once. */
export function edited({ replace, with: text }: BrokenClient): { readonly path: string; readonly code: string } {
  const words = replace.trim().split(/\s+/)
  const pattern = new RegExp(words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s+'), 'g')
  const places = paths.flatMap((path) => {
    const code = readFileSync(path, 'utf8')
    return [...code.matchAll(pattern)].map(({ index, 0: { length } }) => ({
      path,
      code: code.slice(0, index) + text + code.slice(index + length),
    }))
  })
  const [place] = places
  if (place !== undefined && places.length === 1) return place
  throw new Error(`packages/client/src has ${places.length} times, not once:\n${replace}`)
}

/** The function `connect` of such a client. */
export async function connectOf(client: BrokenClient): Promise<typeof connect> {
  const { path, code } = edited(client)
  const build = await rolldown({
    input: join(folder, 'index.ts'),
    platform: 'node',
    resolve: { conditionNames: ['@zk/source', 'import', 'node'] },
    external: /^node:/,
    plugins: [{ name: 'broken', load: (id) => (id === path ? { code, moduleType: 'ts' } : undefined) }],
  })
  const target = mkdtempSync(join(tmpdir(), 'zk-broken-'))
  const file = join(target, 'client.mjs')
  await build.write({ file, format: 'esm' })
  await build.close()
  const { connect: broken } = (await import(pathToFileURL(file).href)) as { connect: typeof connect }
  rmSync(target, { recursive: true })
  return broken
}
