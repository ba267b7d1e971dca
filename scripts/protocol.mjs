// Writes docs/protocol from the clauses of @zk/conform: `pnpm protocol`. With --check it only says whether the pages are up to date.

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chapterPage, chapters, clientClauses, clientPage, indexPage } from '../packages/conform/dist/internal.js'
import { root } from './parts.mjs'

const folder = join(root, 'docs/protocol')
const pages = new Map([
  ['index.md', indexPage(chapters, clientClauses)],
  ['client.md', clientPage()],
  ...chapters.map((chapter) => [`${chapter.name}.md`, chapterPage(chapter)]),
])

mkdirSync(folder, { recursive: true })
const stale = [...pages].filter(([name, text]) => textOf(name) !== text).map(([name]) => name)
const gone = readdirSync(folder).filter((name) => !pages.has(name))
if (process.argv.includes('--check')) {
  for (const name of [...stale, ...gone])
    console.error(`docs/protocol/${name} is not what the clauses say: run \`pnpm protocol\``)
  if (stale.length + gone.length > 0) process.exitCode = 1
} else {
  for (const name of stale) writeFileSync(join(folder, name), pages.get(name))
  for (const name of gone) rmSync(join(folder, name))
}

function textOf(name) {
  const file = join(folder, name)
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}
