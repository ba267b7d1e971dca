// Every file and every command of docs/guide/deno.md, with the packed packages and no permission but those that it gives.
import { exec } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { delimiter, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as testing from '@zk/testing'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { runtimes } from '../../test-integration/test/support/runtimes.ts'
import { sectionsOf } from './guide.ts'

const consumer = inject('consumer')
const folder = join(consumer, 'deno')
const deno = runtimes.find(({ name }) => name === 'Deno')
const sections = sectionsOf('docs/guide/deno.md')
const lines = sections.flatMap(({ commands }) => commands.map(({ line }) => line))
let server: testing.TestServer

beforeAll(async () => {
  const entry = pathToFileURL(join(consumer, 'node_modules/@zk/testing/dist/index.js'))
  const { TestServer } = (await import(entry.href)) as typeof testing
  server = await TestServer.start()
  await mkdir(folder)
  await symlink(join(consumer, 'node_modules'), join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  for (const { name, text } of sections.flatMap(({ files }) => files)) await writeFile(join(folder, name), text)
})
afterAll(async () => await server.close())

test('the page has programs, tests and commands', () => {
  expect(lines.map((line) => line.split(' ', 2).join(' '))).toEqual(['deno run', 'deno run', 'deno run', 'deno test'])
})

describe.skipIf(deno === undefined)('Deno', () => {
  test.each(lines)('%s', async (line) => {
    expect(await shell(line)).toMatch(line.startsWith('deno run') ? /^held true\n$/ : /1 passed \| 0 failed/)
  })

  test('needs the name of a server without its port, and its address', async () => {
    const run = (permissions: string) => shell(`deno run --allow-net=${permissions} lock.ts localhost:2181`)
    const outcomes = await Promise.allSettled([run('localhost:2181,127.0.0.1:2181'), run('localhost')])
    const messages = outcomes.map((outcome) => outcome.status === 'rejected' && String(outcome.reason))
    expect(messages).toEqual([
      expect.stringContaining('getaddrinfo EPERM localhost'),
      expect.stringContaining('Requires net access to "127.0.0.1'),
    ])
  })

  test('compiles its files', async () => {
    await shell('deno check lock.ts lock.test.ts')
  })
})

/** Its output. The server listens at another port than the page says. */
function shell(line: string): Promise<string> {
  const env = {
    HOME: process.env['HOME'],
    PATH: [dirname(deno!.program), process.env['PATH']].join(delimiter),
    NO_COLOR: '1',
  }
  const port = server.connectString.split(':')[1]!
  return new Promise((resolve, reject) => {
    exec(line.replaceAll('2181', port), { cwd: folder, env, timeout: 100_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${line}: ${error.message}\n${stdout}\n${stderr}`))
    })
  })
}
