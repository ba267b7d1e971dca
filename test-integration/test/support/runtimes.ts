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
const folder = process.env['ZK_RUNTIMES'] ?? ''
const programs = join(folder, 'node_modules/.bin')

const others: readonly JavaScriptRuntime[] = [
  { name: 'Node 24', program: join(programs, 'node'), args: [] },
  { name: 'Deno', program: join(programs, 'deno'), args: ['run', '--allow-all'] },
  { name: 'Bun', program: join(programs, 'bun'), args: [] },
]

/** The runtime of the tests, and the others if they were installed or are required (CI). */
export const runtimes: readonly JavaScriptRuntime[] = [
  { name: `Node ${process.versions.node.split('.')[0]}`, program: process.execPath, args: [] },
  ...others.filter(({ program }) => process.env['CI'] === 'true' || existsSync(program)),
]

/** The program's stdout; rejects with its stderr when it fails. */
export function runOn({ program, args }: JavaScriptRuntime, file: string, ...rest: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, [...args, file, ...rest], { timeout: 50_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${program} ${file}: ${error.message}\n${stdout}\n${stderr}`))
    })
  })
}
