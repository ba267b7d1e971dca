import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

export interface JavaScriptRuntime {
  readonly name: string
  readonly program: string
  /** What comes before the file. */
  readonly args: readonly string[]
}

/** Folder with other runtimes as npm packages; `.ci/run` makes it and names it here. */
const programs = join(process.env['ZK_RUNTIMES'] ?? '', 'node_modules/.bin')

const others: readonly JavaScriptRuntime[] = [
  { name: 'Node 24', program: join(programs, 'node'), args: [] },
  { name: 'Deno', program: join(programs, 'deno'), args: ['run', '--allow-all'] },
  { name: 'Bun', program: join(programs, 'bun'), args: [] },
]

/** The runtime of the tests and, where they were fetched or must be (CI), the others. */
export const runtimes: readonly JavaScriptRuntime[] = [
  { name: 'this Node', program: process.execPath, args: [] },
  ...others.filter(({ program }) => process.env['CI'] === 'true' || existsSync(program)),
]

/** What the program writes to stdout; rejects with its stderr when it fails. */
export function runOn({ program, args }: JavaScriptRuntime, file: string): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, [...args, file], { timeout: 100_000 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${program} ${file}: ${error.message}\n${stdout}\n${stderr}`))
    })
  })
}
