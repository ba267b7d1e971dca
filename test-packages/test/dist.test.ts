// The code in the packed packages: one file for each entry, and what entries share once.
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, inject, test } from 'vitest'

const consumer = inject('consumer')
const installed = join(consumer, 'node_modules/@zk')

describe.each(readdirSync(installed))('@zk/%s', (name) => {
  const folder = join(installed, name)
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    exports: Record<string, string | { default: string }>
  }
  const entries = Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? [] : [entry.default]))

  test('has one file with code for each entry, and one for what they share', () => {
    const code = readdirSync(join(folder, 'dist'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.js'))
      .map((file) => `./dist/${file}`)
    expect(code.toSorted()).toEqual([...entries, ...(entries.length > 1 ? ['./dist/shared.js'] : [])].toSorted())
  })

  // A command alone is minified.
  test('calls no class by another name than its sources', () => {
    for (const entry of '.' in exports ? entries : [])
      expect(readFileSync(join(folder, entry), 'utf8')).not.toMatch(/\w\$\d+ = class|class \w+\$\d/)
  })
})

test('entries of a package share their classes', async () => {
  const program = `
    import { ZooKeeper, KeeperError } from '@zk/client'
    import { internalsOf } from '@zk/client/internal'
    import * as recipes from '@zk/recipes'
    import { record } from '@zk/wire'
    import { TxnHeader } from '@zk/wire/server'
    console.log(JSON.stringify([ZooKeeper === recipes.ZooKeeper, KeeperError === recipes.KeeperError, typeof internalsOf]))`
  expect(JSON.parse(await run('--input-type=module', '--eval', program))).toEqual([true, true, 'function'])
})

test('a stack trace names the lines of the sources', async () => {
  const program = `
    import { Lock } from '@zk/recipes'
    try { new Lock(undefined, '/a') } catch (error) { console.log(error.stack) }`
  const stack = await run('--enable-source-maps', '--input-type=module', '--eval', program)
  expect(stack).toMatch(/@zk\/recipes\/src\/[\w/-]+\.ts:\d+:\d+/)
})

// They take a tenth of the time that @zk/recipes takes to load.
test('node:tls and node:crypto are loaded only when they are needed', async () => {
  const program = `
    import '@zk/recipes'
    console.log(process.moduleLoadList.filter((name) => / (net|tls|crypto)$/.test(name)).join())`
  expect((await run('--input-type=module', '--eval', program)).trim()).toBe('NativeModule net')
})

async function run(...args: string[]): Promise<string> {
  return (await promisify(execFile)(process.execPath, args, { cwd: consumer })).stdout
}
