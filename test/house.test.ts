// Rules of this repository that the linter cannot express. The other rules, including layers, are in .oxlintrc.json.

import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'

import { describe, expect, test } from 'vitest'

import { importsOf, read, withoutText } from './imports.ts'
import { isCommandAlone, published, readManifest, root, sourcesIn, workspaces } from './workspace.ts'

/** Files of another package that may be imported: by tests, and by the site, which links to the repository as packages do. */
const borrowed = [
  { by: 'packages/recipes/test/', from: 'packages/client/test/support/' },
  { by: 'packages/testing/test/', from: 'packages/client/test/support/certificates.ts' },
  { by: 'test-integration/test/', from: 'packages/client/test/support/certificates.ts' },
  { by: 'test-packages/test/', from: 'test-integration/test/support/runtimes.ts' },
  { by: 'site/', from: 'scripts/release/' },
  { by: 'examples/test/', from: 'test/screenshot.ts' },
  { by: 'test-packages/test/', from: 'test/screenshot.ts' },
]

/** fast-check draws random programs. An instrumentation of OpenTelemetry extends its class, and uses the API of the program. */
const mayDependOn: Readonly<Record<string, readonly string[]>> = {
  '@zk/conform': ['fast-check'],
  '@zk/opentelemetry': ['@opentelemetry/instrumentation', '@opentelemetry/api'],
}

describe.each(workspaces)('$folder', ({ folder }) => {
  test('relative imports stay within the package', () => {
    const leaving = sourcesIn(folder).flatMap((path) =>
      importsOf(path)
        .filter((specifier) => specifier.startsWith('.'))
        .map((specifier) => posix.join(posix.dirname(path), specifier))
        .filter((file) => !file.startsWith(`${folder}/`))
        .filter((file) => !borrowed.some(({ by, from }) => path.startsWith(by) && file.startsWith(from)))
        .map((file) => `${path} imports ${file}`),
    )
    expect(leaving).toEqual([])
  })
})

describe.each(published)('$manifest.name', ({ folder, manifest }) => {
  const sources = sourcesIn(`${folder}/src`)
  const isCommand = isCommandAlone(manifest)

  test('src has no `await using`, a syntax error on Node 20 and 22', () => {
    expect(sources.filter((path) => /\bawait\s+using\b/.test(withoutText(read(path))))).toEqual([])
  })

  test('src imports at the top of the file only', () => {
    // A command evaluates only what it is told to do.
    const others = isCommand ? [] : sources
    expect(others.filter((path) => /\bimport\s*\(/.test(withoutText(read(path))))).toEqual([])
  })

  test('src raises no bigint to a power: @babel/preset-env makes Math.pow of it, which takes none', () => {
    expect(sources.filter((path) => /\d\s*n\s*\)*\s*\*\*|\*\*\s*\(*\s*\d+n/.test(withoutText(read(path))))).toEqual([])
  })

  test('src uses of a signal only what those of older libraries and of jsdom have, too', () => {
    const newer = /\.throwIfAborted\(|\bAbortSignal\.|instanceof AbortSignal/
    // The signals of a command are its own.
    if (isCommand) return
    expect(sources.filter((path) => newer.test(withoutText(read(path))))).toEqual([])
  })

  test('depends only on its own layers', () => {
    const { dependencies = {}, peerDependencies = {}, optionalDependencies = {} } = manifest
    const all = Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies })
    const foreign = all.filter((name) => !published.some((other) => other.manifest.name === name))
    expect(foreign).toEqual(mayDependOn[manifest.name] ?? [])
  })

  test('exports one main entry, and rarely needed parts by another, for sources, types and builds', () => {
    const entry = (name: string) => ({
      '@zk/source': `./src/${name}.ts`,
      types: `./dist/${name}.d.ts`,
      default: `./dist/${name}.js`,
    })
    const isThere = (name: string) => existsSync(join(root, folder, `src/${name}.ts`))
    expect(manifest.exports).toEqual({
      ...(!isCommand && { '.': entry('index') }),
      ...(isThere('internal') && { './internal': entry('internal') }),
      ...(isThere('server') && { './server': entry('server') }),
      // A command has no types: nobody imports it.
      ...(manifest.bin && { './main': { '@zk/source': './src/command/main.ts', default: './dist/main.js' } }),
      './package.json': './package.json',
    })
    expect(existsSync(join(root, folder, 'src/index.ts'))).toBe(!isCommand)
  })

  test('names its entries for compilers that do not know exports, too', () => {
    const others = Object.entries(manifest.exports ?? {}).flatMap(([subpath, entry]) =>
      subpath === '.' || typeof entry === 'string' || entry['types'] === undefined
        ? []
        : [[subpath.slice('./'.length), [entry['types']]] as const],
    )
    const { main, types } = manifest
    expect({ main, types }).toEqual(isCommand ? {} : { main: './dist/index.js', types: './dist/index.d.ts' })
    expect(Object.entries(manifest.typesVersions?.['*'] ?? {})).toEqual(others)
  })

  test('has a jsr.json with the same name, version and entries, unless it is a command or needs packages of npm', () => {
    const { name, version, license, exports = {} } = manifest
    if (isCommand || mayDependOn[name] !== undefined)
      return expect(existsSync(join(root, folder, 'jsr.json'))).toBe(false)
    const entries = Object.entries(exports).flatMap(([subpath, entry]) =>
      typeof entry === 'string' ? [] : [[subpath, entry['@zk/source']] as const],
    )
    expect(JSON.parse(read(`${folder}/jsr.json`))).toEqual({
      name,
      version,
      license,
      exports: Object.fromEntries(entries),
      publish: { include: ['src', 'README.md', 'CHANGELOG.md', 'LICENSE'] },
    })
  })

  test('publishes what the exports name', () => {
    const { type, license, author, sideEffects, engines, files, keywords } = manifest
    const { engines: required } = readManifest('.')
    expect(keywords).toContain('zookeeper')
    expect({ type, license, author, sideEffects, engines, files }).toEqual({
      type: 'module',
      license: 'MIT',
      author: 'The @zk authors',
      sideEffects: false,
      engines: required,
      files: ['dist', 'src', 'CHANGELOG.md'],
    })
  })

  test('has its layer in .oxlintrc.json', () => {
    expect(read('.oxlintrc.json')).toContain(`"files": ["${folder}/src/**"]`)
  })
})
