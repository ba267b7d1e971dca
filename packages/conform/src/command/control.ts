// Runs the commands of an operator that stop and start servers.
import { spawn } from 'node:child_process'
import type { ServerControl } from '../targets/server-target.ts'
import type { Fault } from './options.ts'

/** undefined without commands. A fault whose command is missing rejects and says which option it needs. */
export function controlOf(commands: Readonly<Partial<Record<Fault, string>>>): ServerControl | undefined {
  if (Object.keys(commands).length === 0) return undefined
  const runner = (fault: Fault) => (server: number) => runCommand(commands[fault] ?? missing(fault), server)
  return { kill: runner('kill'), start: runner('start'), pause: runner('pause'), resume: runner('resume') }
}

function missing(fault: Fault): never {
  throw new Error(`this needs --${fault} 'COMMAND {n}'`)
}

/** Its output goes to standard error: standard output has the report. */
function runCommand(command: string, server: number): Promise<void> {
  const shown = command.replaceAll('{n}', String(server))
  return new Promise((resolve, reject) => {
    const child = spawn(shown, { shell: true, stdio: ['ignore', 2, 2] })
    child.once('error', reject)
    child.once('exit', (code, signal) => {
      if (code === 0) resolve()
      else reject(new Error(`\`${shown}\` ended with ${signal ?? `exit code ${code}`}`))
    })
  })
}
