// The site, as `pnpm site` makes it. Building it also checks the docs of the public API, so CI does that only here.
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inflateSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

interface Element {
  readonly text: string
  readonly path?: string
  readonly children?: readonly Element[]
}

const root = fileURLToPath(new URL('../..', import.meta.url))
const load = async (name: string) => (await import(join(root, 'site', name))) as unknown
const { deadLinks } = (await load('dead-links.mjs')) as { deadLinks: (folder: string) => string[] }
const { addressOf, sectionsOf } = (await load('pages.mjs')) as {
  addressOf: (path: string) => string
  sectionsOf: (documents: string[]) => { title: string; pages: string[] }[]
}
const folder = mkdtempSync(join(tmpdir(), 'zk-site-test-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('pnpm site', () => {
  const site = join(folder, 'site')
  let built: { readonly code: unknown; readonly output: string }
  const read = (page: string) => readFileSync(join(site, page), 'utf8')
  /** The data of TypeDoc's scripts, as a page decompresses them. */
  const data = (name: string): unknown => {
    const [, text] = /"(.*)"/.exec(read(`assets/${name}.js`))!
    return JSON.parse(inflateSync(Buffer.from(text!, 'base64')).toString())
  }

  beforeAll(async () => {
    built = await new Promise((resolve) => {
      execFile(process.execPath, [join(root, 'site/build.mjs'), site], (error, stdout, stderr) => {
        resolve({ code: error === null ? 0 : error.code, output: stdout + stderr })
      })
    })
  }, 300_000)

  test('builds without a warning, a dead link or a declaration that lacks its docs', () => {
    expect(built).toEqual({ code: 0, output: `${join(site, 'index.html')}\n` })
  })

  test('has the order that a new user needs, with every page at its address', () => {
    const navigation = data('navigation') as Element[]
    expect(navigation.map(({ text }) => text)).toEqual([
      'Start',
      'Recipes',
      'Guarantees',
      'Guides',
      'Migration',
      'Testing',
      'Protocol',
      'Reference',
      'Internals',
      'Decisions',
    ])
    const pages = navigation.flatMap(({ children }) => children!).map(({ path }) => path!)
    expect(pages.filter((page) => !existsSync(join(site, page)))).toEqual([])
    expect(new Set(pages).size).toBe(pages.length)
    expect(pages).toEqual(
      expect.arrayContaining([
        'index.html',
        'packages/recipes.html',
        'guarantees.html',
        'guide/errors.html',
        'api/client.html',
      ]),
    )
    expect(read('index.html')).toContain('<title>@zk</title>')
  })

  test('finds pages and declarations by its own search', () => {
    const { rows } = data('search') as { rows: { name: string; url: string }[] }
    const urls = rows.filter(({ name }) => name === 'Errors' || name === 'LeaderElection').map(({ url }) => url)
    expect(urls).toEqual(expect.arrayContaining(['guide/errors.html', 'api/recipes/LeaderElection.html']))
  })

  test('links pages to each other, and to what they say of the API', () => {
    expect(read('guide/testing.html')).toContain('href="../packages/testing.html#how-to"')
    expect(read('index.html')).toMatch(/<a href="guide\/api.html" rel="next">/)
  })

  test('shows pictures', () => {
    expect(read('index.html')).toMatch(/<img src="media\/[^"]*\.svg"/)
  })
})

describe('deadLinks', () => {
  const write = (files: Readonly<Record<string, string>>) => {
    const site = mkdtempSync(join(folder, 'links-'))
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(site, name)), { recursive: true })
      writeFileSync(join(site, name), text)
    }
    return site
  }

  test('finds links to files and anchors that do not exist', () => {
    const site = write({
      'index.html':
        '<a href="a/b.html#here"> <a href="a/b.html#gone"> <a href="c.html"> <a href="#gone"> <img src="d.svg">',
      'a/b.html': '<h2 id="here"> <a href="../index.html"> <a href="../index.html#gone"> <a href="c.html">',
    })
    expect(new Set(deadLinks(site))).toEqual(
      new Set([
        'a/b.html: ../index.html#gone',
        'a/b.html: c.html',
        'index.html: a/b.html#gone',
        'index.html: c.html',
        'index.html: #gone',
        'index.html: d.svg',
      ]),
    )
  })

  test('decodes links, and follows none to other sites', () => {
    const site = write({
      'index.html':
        '<a href="a%20b.html#&lt;x&gt;"> <a href="#caf%C3%A9"> <a href="https://a.b/c#d"> <i id="café"> <a href="#">',
      'a b.html': '<i id="&lt;x&gt;">',
    })
    expect(deadLinks(site)).toEqual([])
  })
})

test('sectionsOf refuses a section whose page is gone', () => {
  expect(() => sectionsOf(['README.md'])).toThrow('site/pages.mjs: there is no docs/')
})

test('addressOf leaves out folders of the repository', () => {
  const paths = ['README.md', 'packages/wire/README.md', 'docs/guide/errors.md', 'docs/decisions/0005-one-await.md']
  expect(paths.map(addressOf)).toEqual(['index', 'packages/wire', 'guide/errors', 'decisions/0005-one-await'])
})
