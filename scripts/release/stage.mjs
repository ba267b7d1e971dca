// The packages as they are published, each in a folder of its own.
import { spawnSync } from 'node:child_process'
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ADDRESS } from './address.mjs'
import { withoutRelativeLinks } from './links.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * Writes each published package into a folder below `into`, with a workspace for Deno that has them all. Returns their manifests,
 * each after those that it depends on, with their folders.
 */
export function stage(into, address = ADDRESS) {
  const packages = inOrder(
    readdirSync(join(root, 'packages'))
      .map((name) => ({
        name,
        manifest: JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')),
      }))
      .filter(({ manifest }) => manifest.private !== true),
  )
  const versions = new Map(packages.map(({ manifest: { name, version } }) => [name, version]))
  const staged = packages.map(({ name, manifest }) => {
    const folder = join(into, name)
    mkdirSync(folder, { recursive: true })
    const source = join(root, 'packages', name)
    for (const part of ['dist', 'src']) cpSync(join(source, part), join(folder, part), { recursive: true })
    copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
    if (existsSync(join(source, 'jsr.json'))) copyFileSync(join(source, 'jsr.json'), join(folder, 'jsr.json'))
    const place = { address, version: manifest.version }
    const pages = { 'README.md': `packages/${name}`, 'CHANGELOG.md': '' }
    for (const [page, from] of Object.entries(pages)) {
      const text = readFileSync(join(root, from, page), 'utf8')
      writeFileSync(join(folder, page), withoutRelativeLinks(text, { ...place, folder: from }))
    }
    const published = publishedManifest(manifest, versions, address, name)
    writeFileSync(join(folder, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
    return { folder, manifest: published }
  })
  const workspace = staged.filter(({ folder }) => existsSync(join(folder, 'jsr.json'))).map(({ folder }) => folder)
  writeFileSync(
    join(into, 'deno.json'),
    JSON.stringify({ workspace: workspace.map((folder) => folder.replace(into, '.')) }),
  )
  return staged
}

/** Packs staged packages. Returns what npm says of each tarball: its file name, sizes, and files. */
export function pack(staged, into) {
  mkdirSync(into, { recursive: true })
  const args = ['pack', '--json', '--ignore-scripts', '--loglevel=error', '--pack-destination', into]
  const { status, stdout, stderr } = spawnSync('npm', [...args, ...staged.map(({ folder }) => folder)], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  if (status !== 0) throw new Error(`npm pack failed: ${stderr}`)
  return JSON.parse(stdout)
}

function publishedManifest({ scripts: _, devDependencies: __, ...manifest }, versions, address, name) {
  const kinds = ['dependencies', 'peerDependencies'].filter((kind) => manifest[kind] !== undefined)
  return {
    ...manifest,
    ...Object.fromEntries(kinds.map((kind) => [kind, withVersions(manifest[kind], versions)])),
    ...(address !== undefined && {
      repository: { type: 'git', url: `git+${address}.git`, directory: `packages/${name}` },
      homepage: `${address}/tree/v${manifest.version}/packages/${name}#readme`,
      bugs: { url: `${address}/issues` },
    }),
  }
}

/** A dependency on a package of the workspace becomes one on the version that is published with it. */
function withVersions(dependencies, versions) {
  const resolved = Object.entries(dependencies).map(([name, range]) => [
    name,
    range.startsWith('workspace:') ? versions.get(name) : range,
  ])
  return Object.fromEntries(resolved)
}

/** Packages are published one after the other: each comes after those that it depends on. */
function inOrder(packages) {
  const ordered = []
  while (ordered.length < packages.length) {
    const waiting = packages.filter((each) => !ordered.includes(each))
    const next = waiting.find((each) => !waiting.some((other) => dependsOn(each, other)))
    if (next === undefined) throw new Error('packages depend on each other in a circle')
    ordered.push(next)
  }
  return ordered
}

function dependsOn({ manifest: { dependencies, peerDependencies } }, { manifest: { name } }) {
  return Object.hasOwn({ ...dependencies, ...peerDependencies }, name)
}
