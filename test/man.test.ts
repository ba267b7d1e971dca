// The man pages of `zk`, as the build has made them.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './workspace.ts'

const folder = join(root, 'packages/cli/dist/man')
const pages = readdirSync(folder).sort()
const MACROS = ['.TH', '.SH', '.PP', '.TP', '.B', '.BR', '.nf', '.fi', '.RS', '.RE', '.nh', '.ad']

test('package.json of @zk/cli lists every man page: npm installs no other', () => {
  const { man } = JSON.parse(readFileSync(join(root, 'packages/cli/package.json'), 'utf8')) as { man: string[] }
  expect([...man].sort()).toEqual(pages.map((name) => `./dist/man/${name}`))
})

test.each(pages)('%s is roff without mistakes', (name) => {
  const text = readFileSync(join(folder, name), 'utf8')
  const lines = text.split('\n')
  const macros = lines.filter((line) => /^[.']/.test(line)).map((line) => line.split(' ')[0])
  expect(macros.filter((macro) => !MACROS.includes(macro!))).toEqual([])
  expect(macros.slice(0, 4)).toEqual(['.TH', '.nh', '.ad', '.SH'])
  expect(macros.filter((macro) => macro === '.nf')).toHaveLength(macros.filter((macro) => macro === '.fi').length)
  // Every escape is one of those that scripts/man.mjs writes, and everything else is ASCII.
  expect(text.replace(/\\(?:[e&-]|\((?:aq|ga|ha|ti|dq)|\[u[\dA-F]{4,6}\]|f[BIR])/g, '')).not.toMatch(
    /\\|[^\x20-\x7e\n]/,
  )
  expect(lines.slice(0, -1).filter((line) => line.trim() === '')).toEqual([])

  // On machines that have it.
  const { stderr } = spawnSync('groff', ['-ww', '-Tutf8', '-man', join(folder, name)], { encoding: 'utf8' })
  expect(stderr ?? '').toBe('')
})
