import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Edit } from './bug.ts'

const packages = fileURLToPath(new URL('../../../packages/', import.meta.url))

/** The sources that are edited, by their path, with the edits made. Throws when one does not apply. */
export async function edited(edits: readonly Edit[]): Promise<ReadonlyMap<string, string>> {
  const sources = new Map<string, string>()
  for (const edit of edits) {
    const path = join(packages, ...edit.file.split('/'))
    sources.set(path, apply(sources.get(path) ?? (await readFile(path, 'utf8')), edit))
  }
  return sources
}

function apply(code: string, { file, find, replace }: Edit): string {
  const parts = code.split(find)
  if (parts.length === 2) return parts.join(replace)
  throw new Error(`${file} has ${parts.length - 1} times what is to be replaced, not once:\n${find}`)
}
