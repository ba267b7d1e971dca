// `zk serve`: the ensemble of @zk/testing as a process.
import { spawnSync } from 'node:child_process'
import { fstatSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { isatty } from 'node:tty'
import type { TestEnsemble, TestEnsembleOptions } from '@zk/testing'
import type { Command } from '../command/command.ts'
import { EXIT } from '../command/exit.ts'
import { interruptible } from '../command/interrupt.ts'
import { type Arguments, UsageError } from '../command/options.ts'
import { print, printJson, say } from '../command/output.ts'
import { listen } from './serve-http.ts'
import { LineError, Served } from './serve-lines.ts'

const LAST_PORT = 65_535

export const SERVE: Command = {
  isLocal: true,
  usage: '[NAME=VALUE…] [options]',
  options: [
    { name: 'members', value: 'N', help: 'how many servers (default: 3)' },
    { name: 'port', value: 'PORT', help: 'the port of the first; the others follow (default: any that are free)' },
    { name: 'release', value: 'RELEASE', help: 'the ZooKeeper release that they are: 3.5 to 3.9, or such as 3.8.4' },
    { name: 'tick', value: 'TIME', help: 'tickTime (default: 2s); with 100ms session timeouts are at most 2s' },
    { name: 'http', value: 'PORT', help: 'also take lines by HTTP; 0 for any port that is free' },
    { name: 'until-eof', help: 'end when standard input, a pipe or a terminal, ends' },
    { name: 'json', help: 'print JSON: a document first, and one for each line' },
  ],
  notes: `A test double: it speaks the protocol as the release does, and keeps nothing on disk. It listens on 127.0.0.1 alone.
The first line of standard output is the connect string; with --http the second is the URL. It ends with 0 on SIGINT,
SIGTERM and SIGHUP.

A line on standard input is a fault, a control or a question: kill zk1, start zk1, pause leader, partition zk1 zk2,zk3,
expire 0x…, lose-reply op=create path=/a, delay-reply ms=500 times=forever, history. help lists them. The answer has
lines of data, if any, and ends with a line that is ok, or begins with error. Nothing is read in the background of a
terminal.

HTTP: POST / with a line, GET / (the members), GET /history?op=create&path=/a. The answer is JSON; a wrong line is
answered with 400.

NAME=VALUE is any other option of an ensemble of @zk/testing; a VALUE may be JSON: extendedTypesEnabled=true,
maxSessionTimeout=4000.

Example:
  zk serve --port 2181 --http 8080 &
  curl -d 'lose-reply op=create' localhost:8080
`,
  run: serve,
}

async function serve(args: Arguments): Promise<number> {
  const options = optionsOf(args)
  const httpPort = args.wholeNumber('http', 0)
  if (httpPort !== undefined && httpPort > LAST_PORT) throw new UsageError(`--http is at most ${LAST_PORT}`)
  // Not bundled: only this command loads it.
  const { TestEnsemble } = await import('@zk/testing')
  return interruptible(async (signal) => {
    const ensemble = await started(() => TestEnsemble.start(options))
    try {
      const served = new Served(ensemble)
      const http = httpPort === undefined ? undefined : await started(() => listen(served, httpPort))
      try {
        say('this is a test double of ZooKeeper: it stores nothing, and is for tests alone')
        greet(args, ensemble, http?.url)
        await ended(args, served, signal)
      } finally {
        http?.close()
      }
    } finally {
      await ensemble.close()
    }
    return EXIT.done
  }, EXIT.done)
}

function optionsOf(args: Arguments): TestEnsembleOptions {
  const members = args.wholeNumber('members', 1) ?? 3
  const port = args.wholeNumber('port', 1)
  if (port !== undefined && port + members - 1 > LAST_PORT) {
    throw new UsageError(`--port is at most ${LAST_PORT - members + 1} for ${members} members, not ${port}`)
  }
  const tickTime = args.duration('tick')
  const release = args.text('release') as TestEnsembleOptions['release']
  return {
    ...Object.fromEntries(args.words.map(settingOf)),
    members,
    ...(port === undefined ? {} : { ports: Array.from({ length: members }, (_, index) => port + index) }),
    ...(tickTime === undefined ? {} : { tickTime }),
    ...(release === undefined ? {} : { release }),
  }
}

/** Options of this command, and what would make others than this machine reach it. */
const NOT_SETTINGS: readonly string[] = ['members', 'ports', 'release', 'tickTime', 'host', 'tls']

function settingOf(word: string): readonly [string, unknown] {
  const [, name, value = ''] = /^([a-z]+)=(.*)$/is.exec(word) ?? []
  if (name === undefined) throw new UsageError(`'${word}' is not NAME=VALUE`)
  if (NOT_SETTINGS.includes(name)) throw new UsageError(`${name} cannot be given as NAME=VALUE: see zk serve --help`)
  try {
    return [name, JSON.parse(value)]
  } catch {
    return [name, value]
  }
}

/** A wrong value, or a port that is not free, is a UsageError. */
async function started<T>(start: () => Promise<T>): Promise<T> {
  try {
    return await start()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isOurs = error instanceof TypeError || error instanceof RangeError
    if (isOurs || code === 'EADDRINUSE' || code === 'EACCES') throw new UsageError(message)
    throw error
  }
}

function greet(args: Arguments, { connectString, members }: TestEnsemble, url: string | undefined): void {
  if (!args.has('json')) return print(`${connectString}\n${url === undefined ? '' : `${url}\n`}`)
  printJson({
    connectString,
    members: members.map(({ name, address }) => ({ name, address })),
    ...(url === undefined ? {} : { http: url }),
    pid: process.pid,
  })
}

/** Obeys the lines of standard input. Resolves when zk is to end. */
async function ended(args: Arguments, served: Served, signal: AbortSignal): Promise<void> {
  const aborted = new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve())
  })
  if (!isReadable()) return aborted
  const lines = createInterface({ input: process.stdin })
  const obeying = (async () => {
    for await (const line of lines) if (line.trim() !== '') await answer(args, served, line)
    if (!args.has('until-eof') || !endsWithInput()) await aborted
  })()
  try {
    await Promise.race([obeying, aborted])
  } finally {
    lines.close()
    process.stdin.destroy()
  }
}

async function answer(args: Arguments, served: Served, line: string): Promise<void> {
  try {
    const { document, lines } = await served.obey(line)
    if (args.has('json')) printJson({ ok: true, ...document })
    else print([...lines, 'ok', ''].join('\n'))
  } catch (error) {
    if (!(error instanceof LineError)) throw error
    if (args.has('json')) printJson({ ok: false, error: error.message })
    else print(`error ${error.message}\n`)
  }
}

/** A file and /dev/null end at once, which says nothing. */
function endsWithInput(): boolean {
  const input = fstatSync(0)
  return input.isFIFO() || input.isSocket() || isatty(0)
}

/** Standard input may be closed. A process in the background is stopped when it reads from a terminal. */
function isReadable(): boolean {
  try {
    fstatSync(0)
  } catch {
    return false
  }
  return !isatty(0) || isInForeground()
}

function isInForeground(): boolean {
  try {
    const [group, foreground] = process.platform === 'linux' ? groupsOfLinux() : groupsFromPs()
    return group === foreground
  } catch {
    return true
  }
}

function groupsFromPs(): readonly string[] {
  const { stdout } = spawnSync('ps', ['-o', 'pgid=,tpgid=', '-p', String(process.pid)], { encoding: 'utf8' })
  return stdout.trim().split(/\s+/)
}

/** The group of this process, and the one that may read from its terminal. `ps` may be missing in a container. */
function groupsOfLinux(): readonly (string | undefined)[] {
  const stat = readFileSync('/proc/self/stat', 'latin1')
  const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return [group, foreground]
}
