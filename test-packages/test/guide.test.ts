// Every file and every command of docs/guide/commonjs.md, with the packed packages.
import { exec } from 'node:child_process'
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as testing from '@zk/testing'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { runtimes } from '../../test-integration/test/support/runtimes.ts'
import { compilers } from './compilers.ts'
import { type Section, sectionsOf } from './guide.ts'

const consumer = inject('consumer')
const nodes = runtimes.filter(({ name }) => name.startsWith('Node'))
const [thisNode] = nodes
const sections = sectionsOf('docs/guide/commonjs.md')
let server: testing.TestServer

beforeAll(async () => {
  const entry = pathToFileURL(join(consumer, 'node_modules/@zk/testing/dist/index.js'))
  const { TestServer } = (await import(entry.href)) as typeof testing
  server = await TestServer.start()
})
afterAll(async () => await server.close())

/** A section may need a Node that is not installed. In CI `runtimes` has every Node, installed or not. */
const runs = sections.flatMap((section) => waysToRun(section).map((way) => ({ title: section.title, section, ...way })))

test('the guide has sections, and each has files and commands', () => {
  expect(sections.length).toBeGreaterThan(7)
  expect(sections.filter(({ files, commands }) => files.length === 0 || commands.length === 0)).toEqual([])
  if (process.env['CI'] === 'true') expect(new Set(runs.map(({ title }) => title)).size).toBe(sections.length)
})

test.each(runs)('$title: does what it says, with $name', async ({ title, section, name, node, compiler }) => {
  const folder = join(consumer, 'guide', `${title} ${name}`)
  await makeProject(folder, section, compiler.tsc)
  for (const { line } of section.commands) {
    const output = await shell(line, folder, node.program)
    if (line.startsWith('node')) expect(output).toContain('held true')
    if (line.includes('jest')) expect(output).toMatch(/Tests:? .*\b1 passed/)
  }
})

/** With each Node and each compiler that will do, by what the commands say. Compilers come with the Node of the tests. */
function waysToRun({ commands }: Section) {
  const least = (what: string) =>
    Math.max(0, ...commands.map(({ needs }) => (needs?.what === what ? needs.version : 0)))
  if (least('TypeScript') > 0) {
    const those = compilers.filter(({ version }) => version >= least('TypeScript'))
    // The oldest and the newest: one in between takes seconds, and has nothing else to say.
    return [...new Set([those[0]!, those.at(-1)!])].map((compiler) => ({
      name: compiler.name,
      node: thisNode!,
      compiler,
    }))
  }
  const those = nodes.filter(({ name }) => Number(name.slice('Node '.length)) >= Math.floor(least('Node')))
  return those.map((node) => ({ name: node.name, node, compiler: compilers.at(-1)! }))
}

async function makeProject(folder: string, { files }: Section, tsc: string): Promise<void> {
  const modules = join(folder, 'node_modules')
  await mkdir(join(modules, '.bin'), { recursive: true })
  for (const name of ['@zk', '@types', '@babel', '@jest', 'jest', 'ts-jest']) {
    await symlink(join(consumer, 'node_modules', name), join(modules, name))
  }
  await cp(join(consumer, 'node_modules/.bin'), join(modules, '.bin'), { recursive: true, verbatimSymlinks: true })
  // A check of TypeScript's own libraries takes most of the time, and says nothing of our packages.
  const program = `#!/bin/sh\nexec '${process.execPath}' '${tsc}' --skipDefaultLibCheck "$@"\n`
  await writeFile(join(modules, '.bin/tsc'), program, { mode: 0o755 })
  await writeFile(join(folder, 'package.json'), '{ "private": true }')
  for (const { name, text } of files) await writeFile(join(folder, name), text)
}

function shell(line: string, cwd: string, node: string): Promise<string> {
  // The commands get no other variables of this run: vitest and npm set many.
  const env = {
    HOME: process.env['HOME'],
    PATH: [dirname(node), process.env['PATH']].join(delimiter),
    ZOOKEEPER: server.connectString,
    NO_COLOR: '1',
    npm_config_offline: 'true',
  }
  return new Promise((resolve, reject) => {
    exec(line, { cwd, env, timeout: 100_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(`${stdout}${stderr}`)
      else reject(new Error(`${line}: ${error.message}\n${stdout}\n${stderr}`))
    })
  })
}
