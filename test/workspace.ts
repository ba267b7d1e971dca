import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** The fields of a package.json that these tests use. */
export interface Manifest {
  readonly name: string
  readonly version?: string
  readonly private?: boolean
  readonly type?: string
  readonly license?: string
  readonly author?: string
  readonly keywords?: readonly string[]
  readonly sideEffects?: boolean
  readonly engines?: Readonly<Record<string, string>>
  readonly files?: readonly string[]
  readonly main?: string
  readonly types?: string
  readonly bin?: Readonly<Record<string, string>>
  readonly typesVersions?: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>
  readonly exports?: Readonly<Record<string, string | Readonly<Record<string, string>>>>
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export interface Workspace {
  /** The path relative to the root, with slashes: `packages/wire`. */
  readonly folder: string
  readonly manifest: Manifest
}

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8')) as Manifest
}

/** All packages of the workspace. */
export const workspaces: readonly Workspace[] = readdirSync(join(root, 'packages'))
  .map((name) => `packages/${name}`)
  .concat('bench', 'examples', 'simulator', 'site', 'test-integration', 'test-packages')
  .filter((folder) => existsSync(join(root, folder, 'package.json')))
  .map((folder) => ({ folder, manifest: readManifest(folder) }))

export const published: readonly Workspace[] = workspaces.filter(({ manifest }) => manifest.private !== true)

/** Whether nothing of the package can be imported. */
export function isCommandAlone({ exports }: Manifest): boolean {
  return exports?.['.'] === undefined
}

/** Source files below a folder, as paths relative to the root. */
export function sourcesIn(folder: string): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return ['dist', 'node_modules'].includes(entry.name) ? [] : sourcesIn(path)
    return /\.m?[jt]s$/.test(entry.name) ? [path] : []
  })
}

const skipped = new Set(['node_modules', 'dist', '.git', 'coverage'])

/** Documents below a folder, as paths relative to the root. */
export function markdownBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : markdownBelow(path)
    return entry.isFile() && path.endsWith('.md') ? [path] : []
  })
}
