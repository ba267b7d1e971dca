import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import type { Server } from './clients.ts'

const MAIN = fileURLToPath(new URL('../../../packages/cli/dist/main.js', import.meta.url))

/** The built `zk`, for a shell. */
export const ZK = `'${process.execPath}' '${MAIN}'`

export interface ZkCommand {
  readonly child: ChildProcess
  /** Its exit code, or the signal that has ended it. */
  readonly ended: Promise<number | string>
  /** What it has written so far, on both outputs. */
  output(): string
  /** Only its data. */
  data(): string
}

export interface StartOptions {
  /** Besides the environment of the tests. */
  readonly environment?: Readonly<Record<string, string>> | undefined
  /** The folder in which it runs. */
  readonly cwd?: string | undefined
  /** Whether its standard input goes on after `input`. @default false */
  readonly hasMoreInput?: boolean
}

/** Starts the built `zk` with these servers. It is killed when the test is over. `input` is its standard input. */
export function startZk(
  servers: readonly Server[],
  chroot: string,
  words: string[],
  input = '',
  { environment, cwd, hasMoreInput = false }: StartOptions = {},
): ZkCommand {
  const connectString = servers.map(({ address }) => address).join(',') + chroot
  const run = start([process.execPath, MAIN, ...words], {
    cwd,
    environment: { ZK_CONNECT: connectString, ...environment },
  })
  if (hasMoreInput) run.child.stdin?.write(input)
  else run.child.stdin?.end(input)
  return run
}

export interface Terminal extends ZkCommand {
  type(keys: string): void
}

/** Runs a command of `sh` in a pseudo-terminal of its own. It is killed when the test is over. */
export function startInTerminal(command: string, environment: Readonly<Record<string, string>>): Terminal {
  const run = start(['script', '-qec', command, '/dev/null'], {
    environment: { TERM: 'xterm', SHELL: '/bin/sh', ...environment },
  })
  return { ...run, type: (keys) => void run.child.stdin?.write(keys) }
}

function start([file = '', ...words]: readonly string[], { environment, cwd }: StartOptions): ZkCommand {
  const child = spawn(file, words, { cwd, env: { ...process.env, ...environment } })
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
