// Makes the site, in `site/dist`: `pnpm site`, or `node site/build.mjs <folder>` for another folder. With `--check` nothing is kept.
//
// TypeDoc does all of it: it reads the sources of the packages and the Markdown of the repository. Every warning of it is a failure: a
// broken link, a type that is mentioned but not exported, a missing doc comment. So is a dead link in what it wrote. TypeDoc needs
// a TypeScript that has an API. That of this repository has none, so this package has another one.
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, posix, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Application, Converter, ReflectionKind, TSConfigReader, TypeDocReader } from 'typedoc'
import { ADDRESS } from '../scripts/release/address.mjs'
import { withoutRelativeLinks } from '../scripts/release/links.mjs'
import { deadLinks } from './dead-links.mjs'
import { useLayout } from './layout.mjs'
import { sectionsOf } from './pages.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values, positionals } = parseArgs({ options: { check: { type: 'boolean' } }, allowPositionals: true })
const work = mkdtempSync(join(tmpdir(), 'zk-site-'))
try {
  const out = values.check ? join(work, 'site') : resolve(positionals[0] ?? join(root, 'site/dist'))
  const isRight = await build(out)
  const dead = isRight ? deadLinks(out) : []
  for (const link of dead) console.error(`dead link in ${link}`)
  if (!isRight || dead.length > 0) process.exitCode = 1
  else if (!values.check) console.log(join(out, 'index.html'))
} finally {
  rmSync(work, { recursive: true, force: true })
}

async function build(out) {
  const sections = sectionsOf(documents())
  const pages = sections.flatMap(({ pages }) => pages)
  for (const page of pages) stage(page, new Set(pages))
  const app = await Application.bootstrap(
    {
      options: join(root, 'site/typedoc.json'),
      out,
      logLevel: 'Warn',
      readme: join(work, 'README.md'),
      projectDocuments: pages.filter((page) => page !== 'README.md').map((page) => join(work, page)),
      ...(ADDRESS !== undefined && { navigationLinks: { Repository: ADDRESS } }),
    },
    [new TypeDocReader(), new TSConfigReader()],
  )
  useLayout(app, sections)
  app.converter.on(Converter.EVENT_CREATE_DECLARATION, (_, reflection) => {
    if (reflection.kindOf(ReflectionKind.Module)) reflection.name = `@zk/${reflection.name.replace('/src', '')}`
  })
  const isRight = () => !app.logger.hasErrors() && !app.logger.hasWarnings() && app.logger.validationWarningCount === 0
  const project = await app.convert()
  if (project === undefined || !isRight()) return false
  app.validate(project)
  if (isRight()) await app.generateOutputs(project)
  return isRight()
}

/** The Markdown files below a folder of the repository. */
function documents(folder = '') {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const { name } = entry
    const path = posix.join(folder, name)
    if (name.startsWith('.') || name === 'node_modules' || name === 'dist') return []
    if (entry.isDirectory()) return documents(path)
    return name.endsWith('.md') ? [path] : []
  })
}

/**
 * Writes a page as TypeDoc wants it, with its title in front matter, at the same place of the work folder. Links to other pages and
 * to pictures stay; a link to a folder leads to its first page; the others lead to the repository.
 */
function stage(page, pages) {
  const text = readFileSync(join(root, page), 'utf8')
  const title = /^#+ (.+)$/m.exec(text)?.[1].replaceAll('`', '')
  const beside = (path) => {
    if (pages.has(path)) return path
    if (path.endsWith('.svg')) return withPicture(path)
    return [...pages].find((other) => other.startsWith(`${path}/`))
  }
  const { version } = JSON.parse(readFileSync(join(root, 'packages/recipes/package.json'), 'utf8'))
  const linked = withoutRelativeLinks(text, { address: ADDRESS, version, folder: posix.dirname(page), beside })
  mkdirSync(dirname(join(work, page)), { recursive: true })
  writeFileSync(join(work, page), `---\ntitle: ${JSON.stringify(title)}\npath: ${page}\n---\n\n${linked}`)
}

function withPicture(path) {
  mkdirSync(dirname(join(work, path)), { recursive: true })
  copyFileSync(join(root, path), join(work, path))
  return path
}
