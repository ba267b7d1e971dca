// Compilers that users may have read the declarations of the packed packages.
import { execFile } from 'node:child_process'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { compilers } from './compilers.ts'

const node = { types: ['node'], lib: ['es2022', 'esnext.disposable'] }
// The declarations do not need Node's types: AbortSignal, for one, is declared elsewhere too.
const web = { types: [], lib: ['es2022', 'esnext.disposable', 'dom'] }
const settings = [
  { label: 'node16', module: 'node16', moduleResolution: 'node16', ...node },
  { label: 'nodenext', module: 'nodenext', moduleResolution: 'nodenext', ...node },
  { label: 'bundlers', module: 'esnext', moduleResolution: 'bundler', ...node },
  { label: 'bundlers, without the types of Node', module: 'esnext', moduleResolution: 'bundler', ...web },
]
const strict = {
  strict: true,
  skipLibCheck: false,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  target: 'es2022',
  noEmit: true,
}
const folder = join(inject('consumer'), 'compiled')

beforeAll(async () => {
  await mkdir(folder)
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await copyFile(new URL('../consumer/compiled.ts', import.meta.url), join(folder, 'compiled.ts'))
})

describe.each(compilers)('$name', ({ name, tsc }) => {
  test.each(settings)('compiles every declaration, strictly, for $label', async ({ label, ...options }) => {
    const config = join(folder, `${name} ${label}.json`)
    await writeFile(config, JSON.stringify({ compilerOptions: { ...strict, ...options }, files: ['compiled.ts'] }))
    expect(await outputOf(tsc, config)).toBe('')
  })
})

function outputOf(tsc: string, config: string): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, '--project', config], (error, stdout, stderr) => {
      resolve(error === null ? stdout : `${stdout}${stderr}${error.message}`)
    })
  })
}
