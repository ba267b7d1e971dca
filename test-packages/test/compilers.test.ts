// Compilers that users may have read the declarations of the packed packages.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, inject, test } from 'vitest'
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
  // But not those of TypeScript itself, which take most of the time.
  skipDefaultLibCheck: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  target: 'es2022',
  noEmit: true,
}
const folder = join(inject('consumer'), 'compiled')

// A project for each setting. One process compiles them all, and reads each declaration once.
describe.each(compilers)('$name', ({ name, tsc }) => {
  test('compiles every declaration, strictly, for Node and for bundlers, with and without the types of Node', async () => {
    const projects = settings.map(({ label, ...options }) => ({ folder: join(folder, name, label), options }))
    for (const { folder, options } of projects) {
      await mkdir(folder, { recursive: true })
      await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
      await copyFile(new URL('../consumer/compiled.ts', import.meta.url), join(folder, 'compiled.ts'))
      const config = { compilerOptions: { ...strict, ...options }, files: ['compiled.ts'] }
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config))
    }
    expect(await outputOf(tsc, '--build', ...projects.map(({ folder }) => folder))).toBe('')
  })
})

// From TypeScript 6 on, this way to find a module is deprecated, and the compiler takes another one for `commonjs`.
describe.each(compilers.filter(({ version }) => version < 6))('$name', ({ name, tsc }) => {
  test('compiles to CommonJS, without knowledge of `exports`, what then runs', async () => {
    const project = join(inject('consumer'), 'commonjs', name)
    await mkdir(project, { recursive: true })
    await copyFile(new URL('../consumer/commonjs.ts', import.meta.url), join(project, 'commonjs.ts'))
    const config = join(project, 'tsconfig.json')
    const { verbatimModuleSyntax: _, ...others } = strict
    const options = { ...others, module: 'commonjs', moduleResolution: 'node10', noEmit: false, ...node }
    await writeFile(config, JSON.stringify({ compilerOptions: options, files: ['commonjs.ts'] }))
    expect(await outputOf(tsc, '--project', config)).toBe('')
    const { stdout } = await promisify(execFile)(process.execPath, [join(project, 'commonjs.js')])
    expect(stdout).toMatch(/^held true [0-9a-f]{16}\n$/)
  })
})

function outputOf(tsc: string, ...args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [tsc, ...args], (error, stdout, stderr) => {
      resolve(error === null ? stdout : `${stdout}${stderr}${error.message}`)
    })
  })
}
