import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

export interface JavaScriptRuntime {
  readonly name: string
  readonly program: string
  /** Arguments before the file. */
  readonly args: readonly string[]
}

/** Folder with other runtimes as npm packages; `.ci/run` creates it and sets this variable. */
const programs = join(process.env['ZK_RUNTIMES'] ?? '', 'node_modules/.bin')

const others: readonly JavaScriptRuntime[] = [
  { name: 'Node 24', program: join(programs, 'node'), args: [] },
  { name: 'Deno', program: join(programs, 'deno'), args: ['run', '--allow-all'] },
  { name: 'Bun', program: join(programs, 'bun'), args: [] },
]

/** The runtime of the tests, and the others if they were installed or are required (CI). */
export const runtimes: readonly JavaScriptRuntime[] = [
  { name: 'this Node', program: process.execPath, args: [] },
  ...others.filter(({ program }) => process.env['CI'] === 'true' || existsSync(program)),
]

/** The program's stdout; rejects with its stderr when it fails. */
export function runOn({ program, args }: JavaScriptRuntime, file: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, [...args, file], { timeout: 100_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${program} ${file}: ${error.message}\n${stdout}\n${stderr}`))
    })
  })
}
