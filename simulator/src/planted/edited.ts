import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Edit } from './bug.ts'
import { declarationsIn } from './declarations.ts'

const packages = fileURLToPath(new URL('../../../packages/', import.meta.url))

/** The sources of client and recipes, by their path. */
function readSources(): Map<string, string> {
  const folders = ['client', 'recipes'].map((name) => join(packages, name, 'src'))
  const paths = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  return new Map(paths.filter((path) => path.endsWith('.ts')).map((path) => [path, readFileSync(path, 'utf8')]))
}

/** The sources that are edited, by their path, with the edits made. Throws when one does not apply. */
export function edited(edits: readonly Edit[]): ReadonlyMap<string, string> {
  const sources = readSources()
  const changed = new Map<string, string>()
  for (const edit of edits) {
    const [path, code] = apply(sources, edit)
    sources.set(path, code)
    changed.set(path, code)
  }
  return changed
}

interface Place {
  readonly path: string
  readonly start: number
  readonly end: number
}

function apply(sources: ReadonlyMap<string, string>, edit: Edit): [path: string, code: string] {
  const places = placesOf(sources, edit)
  const [place] = places
  if (place === undefined || places.length > 1) {
    throw new Error(`${edit.in} has ${places.length} times what is to be replaced, not once:\n${edit.find}`)
  }
  const { path, start, end } = place
  const code = sources.get(path)!
  return [path, code.slice(0, start) + edit.replace.trim() + code.slice(end)]
}

function placesOf(sources: ReadonlyMap<string, string>, { in: name, find }: Edit): Place[] {
  const words = find.trim().split(/\s+/)
  const pattern = new RegExp(words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s+'), 'g')
  const places: Place[] = []
  for (const [path, code] of sources) {
    for (const region of declarationsIn(code)) {
      if (region.name !== name) continue
      for (const match of code.slice(region.start, region.end).matchAll(pattern)) {
        const start = region.start + match.index
        places.push({ path, start, end: start + match[0].length })
      }
    }
  }
  return places
}
