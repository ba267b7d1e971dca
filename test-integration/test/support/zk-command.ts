import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { Server } from './clients.ts'

const MAIN = fileURLToPath(new URL('../../../packages/cli/dist/main.js', import.meta.url))

export interface ZkCommand {
  readonly child: ChildProcess
  /** Its exit code, or the signal that has ended it. */
  readonly ended: Promise<number | string>
  /** What it has written so far, on both outputs. */
  output(): string
  /** Only its data. */
  data(): string
}

/**
 * Starts the built `zk` with these servers. It is killed when the test is over. `input` is its standard input, `cwd` the folder in
 * which it runs.
 */
export function startZk(
  servers: readonly Server[],
  chroot: string,
  words: string[],
  input = '',
  cwd = process.cwd(),
): ZkCommand {
  const run = startProgram([process.execPath, MAIN, ...words], servers, chroot, cwd)
  run.child.stdin?.end(input)
  return run
}

function startProgram(
  [file = '', ...words]: readonly string[],
  servers: readonly Server[],
  chroot: string,
  cwd: string,
): ZkCommand {
  const connectString = servers.map(({ address }) => address).join(',') + chroot
  const env = { ...process.env, ZK_CONNECT: connectString }
  const child = spawn(file, words, { cwd, env })
  let output = ''
  let data = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    output += chunk
    data += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (output += chunk))
  child.stdin.on('error', () => {})
  onTestFinished(() => void child.kill('SIGKILL'))
  // Both outputs have ended, too.
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string)
  return { child, ended, output: () => output, data: () => data }
}

/** The same in a pseudo-terminal of 10 lines, which gets what is written to standard input as from a keyboard. */
export function startZkOnTerminal(servers: readonly Server[], chroot: string, words: string[]): ZkCommand {
  const command = ['stty rows 10 cols 100; exec', process.execPath, MAIN, ...words].join(' ')
  return startProgram(['script', '-qec', command, '/dev/null'], servers, chroot, process.cwd())
}
