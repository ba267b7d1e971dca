// The command, with its arguments and the terminal given. Returns the exit code.
import { readFile, writeFile } from 'node:fs/promises'
import { htmlReport, parseReport } from '../report/index.ts'
import { explain, list } from './catalog.ts'
import { judgeProgram } from './client.ts'
import { EXIT } from './exit.ts'
import { fuzzServer } from './fuzz.ts'
import { type Options, parseOptions } from './options.ts'
import { allIds, judgeServer } from './server.ts'
import type { Terminal } from './terminal.ts'
import { USAGE, UsageError } from './usage.ts'

export async function conform(args: readonly string[], terminal: Terminal): Promise<number> {
  try {
    const options = parseOptions(args)
    if (options.isHelp) {
      terminal.print(USAGE)
      return EXIT.expected
    }
    return await dispatch(options, terminal)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    terminal.error(`conform: ${error.message}\nSee \`conform --help\`.`)
    return EXIT.usage
  }
}

const commands: ReadonlySet<string> = new Set(['list', 'explain', 'compare', 'client', 'run'])

async function dispatch(options: Options, terminal: Terminal): Promise<number> {
  const [first, ...rest] = options.words
  if (options.fuzz !== undefined && (first === undefined || commands.has(first) || rest.length > 0)) {
    throw new UsageError('--fuzz needs the address of a server, and nothing else: conform HOST:PORT --fuzz 1000')
  }
  switch (first) {
    case undefined:
      throw new UsageError('it needs the address of a server: conform HOST:PORT')
    case 'list':
      terminal.print(list(one(rest, 'a chapter')))
      return EXIT.expected
    case 'explain':
      terminal.print(explain(one(rest, 'a clause') ?? 'nothing'))
      return EXIT.expected
    case 'compare':
      return compare(rest, options, terminal)
    case 'client':
      return judgeProgram(rest, options, terminal)
    case 'run':
      return runClauses(rest, options, terminal)
    default:
      if (rest.length > 0)
        throw new UsageError(`'${rest.join(' ')}' is too much: conform HOST:PORT,HOST:PORT [options]`)
      if (options.fuzz !== undefined) return fuzzServer(first, options.fuzz, options, terminal)
      return judgeServer(first, undefined, options, terminal)
  }
}

function one(words: readonly string[], what: string): string | undefined {
  if (words.length > 1) throw new UsageError(`it takes ${what}, not ${words.length}`)
  return words[0]
}

function runClauses(words: readonly string[], options: Options, terminal: Terminal): Promise<number> {
  const ids = new Set(words.slice(0, -1))
  const address = words.at(-1)
  if (address === undefined || ids.size === 0)
    throw new UsageError('it needs clauses and a server: conform run watches/12 HOST:PORT')
  for (const id of ids) if (!allIds.has(id)) throw new UsageError(`there is no clause '${id}': see \`conform list\``)
  return judgeServer(address, ids, options, terminal)
}

async function compare(files: readonly string[], { files: { html } }: Options, terminal: Terminal): Promise<number> {
  if (files.length === 0 || html === undefined)
    throw new UsageError('it needs results and a page: conform compare FILE… --html FILE')
  const reports = await Promise.all(
    files.map(async (file) => {
      try {
        return parseReport(await readFile(file, 'utf8'))
      } catch (error) {
        throw new UsageError(`${file}: ${(error as Error).message}`)
      }
    }),
  )
  if (html === '-') terminal.print(htmlReport(reports))
  else await writeFile(html, htmlReport(reports))
  return EXIT.expected
}
