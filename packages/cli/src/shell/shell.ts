// `zk shell`: commands in one session, from a terminal or a script.
import { createInterface } from 'node:readline'
import { isatty } from 'node:tty'
import { printable } from '@zk/client/internal'
import type { Command, Commands } from '../command/command.ts'
import { lend } from '../command/connection.ts'
import { CONNECTION_OPTIONS } from '../command/connection-options.ts'
import { EXIT, exitCodeOf } from '../command/exit.ts'
import { report } from '../command/failure.ts'
import { type Arguments, UsageError } from '../command/options.ts'
import { OutputError, print, say } from '../command/output.ts'
import { readProfiles } from '../command/profiles.ts'
import { checkPath } from '../nodes/path.ts'
import { complete } from './complete.ts'
import { History } from './history.ts'
import { ShellClient } from './shell-client.ts'
import { Terminal } from './terminal.ts'
import { kindAt, kindOfValue } from './usage.ts'
import { quoted, wordsIn } from './words.ts'

/** Runs a command of `zk`. `prepare` may change its arguments before. Rejects as the command does. */
export type RunCommand = (
  args: readonly string[],
  prepare: (command: Command, args: Arguments) => Promise<Arguments>,
) => Promise<number>

export function shellOf(commands: Commands, run: RunCommand): Command {
  return {
    usage: '[options]',
    options: [],
    notes: `All commands of zk run in one session, with these besides:
  cd [PATH]      paths that do not begin with / are relative to this node (default: /)
  pwd            prints it
  help [COMMAND]
  exit [CODE]    also Ctrl-D

Words are quoted as in bash: 'a b', "a b", a\\ b, and $'\\x41' for other characters; # begins a comment. A command with options of the
connection has a session of its own. Data cannot be -, which is standard input.

On a terminal Tab completes commands, options and paths, and Ctrl-C ends the command, not the shell. The history is in
zk/history below XDG_STATE_HOME (default: ~/.local/state), without lines that begin with a space. If standard input is not a terminal,
it is a script: the shell ends at the first command that fails, with its exit code.

Example:
  printf 'cd /config\\nset a 1\\nset b 2\\n' | zk shell --profile prod
`,
    run: async (args) => {
      if (args.words.length > 0) throw new UsageError('zk shell takes no words: commands come from standard input')
      const shell = new Shell(commands, run, args)
      return isatty(0) && isatty(2) ? shell.interact() : shell.runScript()
    },
  }
}

/** The line `exit`. */
class Exit extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super()
    this.exitCode = exitCode
  }
}

class Shell {
  readonly #commands: Commands
  readonly #run: RunCommand
  readonly #args: Arguments
  readonly #client: ShellClient
  readonly #terminal = new Terminal((line) => this.#complete(line))
  /** The node to which paths are relative. */
  #folder = '/'

  constructor(commands: Commands, run: RunCommand, args: Arguments) {
    this.#commands = commands
    this.#run = run
    this.#args = args
    this.#client = new ShellClient(args, (text) => this.#terminal.interject(this.#prompt, () => say(text)))
  }

  async interact(): Promise<number> {
    const history = new History(process.env)
    await this.#client.get()
    let isHistoryWritten = true
    try {
      for (;;) {
        const line = await this.#terminal.line(this.#prompt, history.lines)
        if (line === undefined) return EXIT.done
        const reason = history.add(line)
        if (reason !== undefined && isHistoryWritten) say(`the history is not kept: ${reason}`)
        isHistoryWritten &&= reason === undefined
        await this.#interruptible(line)
      }
    } catch (error) {
      return endOf(error)
    } finally {
      await this.#client.close()
    }
  }

  async runScript(): Promise<number> {
    let number = 0
    try {
      for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
        number++
        const code = await this.#runLine(line)
        if (code === EXIT.done) continue
        say(`line ${number} has ended with ${code}: ${printable(line)}`)
        return code
      }
      return EXIT.done
    } catch (error) {
      return endOf(error)
    } finally {
      process.stdin.destroy()
      await this.#client.close()
    }
  }

  get #prompt(): string {
    return `${this.#client.place} ${printable(this.#folder)}> `
  }

  /** Ctrl-C closes the session, so that each call of the command rejects, unless the command has a handler of its own. */
  async #interruptible(line: string): Promise<void> {
    let isInterrupted = false
    let abandon = (): void => {}
    const abandoned = new Promise<void>((resolve) => (abandon = resolve))
    const interrupt = (): void => {
      if (process.listenerCount('SIGINT') > 1) return
      if (isInterrupted) abandon()
      isInterrupted = true
      void this.#client.close()
    }
    process.on('SIGINT', interrupt)
    try {
      const running = this.#runLine(line, () => isInterrupted)
      await Promise.race([running, abandoned])
    } finally {
      process.off('SIGINT', interrupt)
    }
  }

  /** Resolves with the exit code. Rejects with `Exit`, or an `OutputError` if nobody reads any more. */
  async #runLine(line: string, isInterrupted = () => false): Promise<number> {
    try {
      return await this.#runWords(wordsOf(line))
    } catch (error) {
      if (error instanceof Exit || (error instanceof OutputError && error.isReaderGone)) throw error
      if (!isInterrupted()) return report(error)
      say('interrupted')
      return exitCodeOf('SIGINT')
    }
  }

  async #runWords([name, ...words]: readonly string[]): Promise<number> {
    switch (name) {
      case undefined:
        return EXIT.done
      case 'exit':
      case 'quit':
        throw new Exit(exitCodeIn(words))
      case 'pwd':
        print(`${printable(this.#folder)}\n`)
        return EXIT.done
      case 'cd':
        return this.#changeFolder(words)
      case 'help': {
        const code = await this.#run(['help', ...words], async (_, args) => args)
        if (words.length === 0) print('In the shell also: cd [PATH], pwd, help [COMMAND], exit [CODE].\n')
        return code
      }
      case 'shell':
      case 'serve':
        throw new UsageError(`${name} reads standard input, which has the commands`)
      default:
        return this.#run([name, ...words], (command, args) => this.#prepare(name, command, args))
    }
  }

  async #changeFolder([path = '/', ...more]: readonly string[]): Promise<number> {
    if (more.length > 0) throw new UsageError('name one path: cd PATH')
    const folder = this.#resolve(path.replace(/(?<=.)\/$/, ''))
    checkPath(folder)
    if ((await (await this.#client.get()).exists(folder)) === undefined) {
      say(`there is no node ${printable(folder)}`)
      return EXIT.noNode
    }
    this.#folder = folder
    return EXIT.done
  }

  async #prepare(name: string, command: Command, args: Arguments): Promise<Arguments> {
    const readsInput = args.words.length === 0 && kindAt(command.usage, 0) === 'FILE'
    if (readsInput || args.words.some((word) => word === '-' || word === '@-')) {
      throw new UsageError('standard input has the commands: name a file for data')
    }
    const words = args.words.length === 0 && LISTS.includes(name) ? [this.#folder] : args.words
    const resolve = (word: string): string => (word.startsWith('@') ? word : this.#resolve(word))
    const resolved = words.map((word, place) => (kindAt(command.usage, place) === 'PATH' ? resolve(word) : word))
    const values = command.options
      .filter((option) => kindOfValue(option) === 'PATH')
      .flatMap(({ name }) => args.texts(name).map((path) => [name, resolve(path)]))
    const isElsewhere = CONNECTION_OPTIONS.some(({ name }) => args.has(name) || args.texts(name).length > 0)
    // Some commands connect by these options, too.
    const prepared = args.with(Object.fromEntries(values)).withWords(resolved, isElsewhere ? args : this.#args)
    if (!isElsewhere) lend((signal) => this.#client.get(signal), prepared)
    return prepared
  }

  /** The absolute path. No name of a node is `.` or `..`, so they always mean this node and the one above. */
  #resolve(path: string): string {
    const names: string[] = []
    for (const name of (path.startsWith('/') ? path : `${this.#folder}/${path}`).split('/').slice(1)) {
      if (name === '..') names.pop()
      else if (name !== '.' && (name !== '' || names.length > 0)) names.push(name)
    }
    return `/${names.join('/')}`
  }

  /** For the reader of lines: the words that may come, and the part of the line that each of them replaces. */
  async #complete(line: string): Promise<[string[], string]> {
    const words = wordsIn(line)
    const current = /\s$/.test(line) && words.at(-1)?.open === '' ? undefined : words.pop()
    const texts = words.map(({ text }) => text)
    const found = await complete(texts, current?.text ?? '', {
      commands: { ...this.#commands, ...BUILT_IN },
      profiles: () => Object.keys(readProfiles(process.env).profiles),
      resolve: (path) => this.#resolve(path === '' ? '.' : path.replace(/(?<=.)\/$/, '')),
      children: async (path) => (await this.#client.current?.getChildren(path, { timeout: PATIENCE }))?.children ?? [],
    }).catch(() => undefined)
    const { kind, candidates = [] } = found ?? {}
    const open = current?.open ?? ''
    const isSettled = kind === 'words' && candidates.length === 1
    const hits = candidates.map(({ text }) => quoted(text, open) + (isSettled ? `${open.slice(-1)} ` : ''))
    return [hits, line.slice(current?.start ?? line.length)]
  }
}

/** Commands that list this node if no other is named. */
const LISTS: readonly string[] = ['ls', 'tree']
/** How long the names of nodes may take that complete a path, in ms. */
const PATIENCE = 1_000

function builtIn(usage: string, summary: string): Commands[string] {
  return { summary, load: async () => ({ usage, options: [], notes: '', run: async () => EXIT.done }) }
}

/** For completion. */
const BUILT_IN: Commands = {
  cd: builtIn('PATH', 'Changes the node to which paths are relative.'),
  pwd: builtIn('', 'Prints this node.'),
  exit: builtIn('', 'Ends the shell.'),
}

/** Throws a UsageError. */
function wordsOf(line: string): readonly string[] {
  const words = wordsIn(line)
  const comment = words.findIndex(({ bare }) => bare.startsWith('#'))
  const said = comment < 0 ? words : words.slice(0, comment)
  const open = said.at(-1)?.open ?? ''
  if (open !== '') throw new UsageError(`the quote ${open} is not closed`)
  return said.map(({ text }) => text)
}

/** Throws a UsageError. */
function exitCodeIn([code = '0', ...more]: readonly string[]): number {
  if (more.length > 0 || !/^\d{1,3}$/.test(code) || Number(code) > 255)
    throw new UsageError('exit takes a code of 0 to 255')
  return Number(code)
}

/** The exit code of the shell. */
function endOf(error: unknown): number {
  if (error instanceof Exit) return error.exitCode
  if (error instanceof OutputError) return EXIT.done
  throw error
}
