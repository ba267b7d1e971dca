// What is in the tarballs, and what tools for packages say of it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { describe, expect, inject, test } from 'vitest'

const consumer = inject('consumer')
const installed = join(consumer, 'node_modules/@zk')

describe.each(readdirSync(installed))('@zk/%s', (name) => {
  const folder = join(installed, name)
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Record<string, unknown>
  const tarball = readFileSync(join(consumer, `zk-${name}-${String(manifest['version'])}.tgz`))

  test('has its licence, its readme, its changes, the build and the sources that the maps of the build name', () => {
    expect(readdirSync(folder).toSorted()).toEqual([
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'dist',
      'package.json',
      'src',
    ])
    const maps = readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.map'),
    )
    const missing = maps.flatMap((file) => {
      const { sources } = JSON.parse(readFileSync(join(folder, 'dist', file), 'utf8')) as { sources: string[] }
      return sources.filter((source) => !existsSync(join(folder, 'dist', file, '..', source)))
    })
    expect(maps.length).toBeGreaterThan(5)
    expect(missing).toEqual([])
  })

  test('has a name for no dependency that is only in a workspace', () => {
    expect(JSON.stringify(manifest['dependencies'] ?? {})).not.toContain('workspace:')
  })

  test.each(['README.md', 'CHANGELOG.md'])('%s links only to what is in the package', (file) => {
    const text = readFileSync(join(folder, file), 'utf8')
    const anchors = new Set([...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => `#${slugOf(heading!)}`))
    const targets = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target!)
    const isThere = (target: string) =>
      target.startsWith('https://') || (target.startsWith('#') ? anchors.has(target) : existsSync(join(folder, target)))
    expect(targets.filter((target) => !isThere(target) || target.startsWith('..'))).toEqual([])
  })

  test('publint has nothing to say', async () => {
    const { messages } = await publint({ pack: { tarball: toArrayBuffer(tarball) }, strict: true })
    expect(messages.map((message) => formatMessage(message, manifest, { color: false }))).toEqual([])
  })

  test('its types are found and right, however a compiler looks for them', async () => {
    // A command has no types: nobody imports it.
    const excludeEntrypoints = manifest['bin'] === undefined ? [] : ['./main']
    const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(tarball)), { excludeEntrypoints })
    if (analysis.types === false) throw new Error('no types were found')
    // A finding for each package of ES modules alone. Every Node that `engines` allows can `require` them, and a second build for
    // CommonJS would bring a second copy of each class into a program.
    expect(analysis.problems.filter(({ kind }) => kind !== 'CJSResolvesToESM')).toEqual([])
  })
})

/** As GitHub makes them. */
function slugOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')
}

function withoutCode(markdown: string): string {
  return markdown.replace(/^```[^]*?^```/gm, '').replace(/`[^`\n]*`/g, '`')
}

function toArrayBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer
}
