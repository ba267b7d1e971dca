// The built packages as plain Node sees them: imported by name, through the links of the workspace, without our condition.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { expect, test } from 'vitest'

import { isCommandAlone, published, root, workspaces } from './workspace.ts'

const node = 'Deno' in globalThis || 'Bun' in globalThis ? 'node' : process.execPath

const libraries = published.filter(({ manifest }) => !isCommandAlone(manifest))

test.each(libraries)('$manifest.name exports the same to plain Node as its sources', async ({ folder, manifest }) => {
  expect(existsSync(join(root, folder, 'dist/index.js')), 'not built: run `pnpm build`').toBe(true)
  const source = (await import(join(root, folder, 'src/index.ts'))) as object

  const consumer = workspaces.find((other) => manifest.name in (other.manifest.dependencies ?? {}))
  const program = `console.log(JSON.stringify(Object.keys(await import('${manifest.name}'))))`
  const { stdout } = await promisify(execFile)(node, ['--input-type=module', '--eval', program], {
    cwd: join(root, consumer?.folder ?? folder),
    env: {},
  })

  expect(JSON.parse(stdout)).toEqual(Object.keys(source).sort())
})
