// `zk words`: the four-letter words, to each server.
import type { DialTarget } from '@zk/client'
import { formatServer } from '@zk/wire'
import type { Command } from '../command/command.ts'
import { serversOf, timeoutOf } from '../command/connection.ts'
import { EXIT } from '../command/exit.ts'
import { type Arguments, UsageError } from '../command/options.ts'
import { print, printJson, say } from '../command/output.ts'
import { table } from '../command/table.ts'
import { type Answer, ask, valuesIn } from './four-letter-word.ts'
import { forTerminal } from '../nodes/shown.ts'

/** Words that change nothing, and cost a server little. */
const HARMLESS = ['conf', 'cons', 'dirs', 'envi', 'gtmk', 'isro', 'mntr', 'ruok', 'srvr', 'stat', 'wchs'] as const

export const WORDS: Command = {
  usage: '[WORD…] [options]',
  options: [{ name: 'json', help: 'print JSON; the values of mntr, conf and envi are its fields' }],
  notes: `Without a WORD: which words each server answers, and which it refuses (4lw.commands.whitelist). Words that change
something or are costly are not tried: crst, srst, stmk; dump, hash, wchc, wchp.

With several answers, each has a heading: # SERVER WORD.

Exit codes: 0 each server has answered, 69 one has not, 77 one refuses a word that was asked for.

Example:
  zk words mntr --json | jq '.answers[] | {server, latency: .values.zk_avg_latency}'
`,
  run: words,
}

interface Asked {
  readonly server: string
  readonly word: string
  readonly answer: Answer
}

async function words(args: Arguments): Promise<number> {
  const odd = args.words.find((word) => !/^[a-z]{4}$/.test(word))
  if (odd !== undefined) throw new UsageError(`a word has four small letters, such as mntr, not '${odd}'`)
  const { servers } = serversOf(args, process.env)
  const timeout = timeoutOf(args, process.env) ?? 5_000
  if (args.words.length === 0) return showAllowed(args, await askAll(servers, HARMLESS, timeout, true))
  const all = await askAll(servers, args.words, timeout, false)
  if (args.has('json')) printJson({ answers: all.map(documentOf) })
  else for (const asked of all) showAnswer(asked, all.length > 1)
  return codeOf(all)
}

/** A server gets one word after another: each needs a connection, and servers limit the connections of a host. */
async function askAll(
  servers: readonly DialTarget[],
  words: readonly string[],
  timeout: number,
  isBeginningEnough: boolean,
): Promise<Asked[]> {
  const ofServers = servers.map(async (server) => {
    const all: Asked[] = []
    for (const word of words) {
      const answer = await ask(server, word, { timeout, isBeginningEnough })
      all.push({ server: formatServer(server), word, answer })
      // A server that cannot be reached is not tried eleven times.
      if (answer.name === 'none' && isBeginningEnough) break
    }
    return all
  })
  return (await Promise.all(ofServers)).flat()
}

function showAnswer({ server, word, answer }: Asked, hasHeading: boolean): void {
  if (answer.name !== 'text') return say(`${server}: ${word}: ${answer.name === 'none' ? answer.why : REFUSED}`)
  const text = forTerminal(answer.text)
  print(`${hasHeading ? `# ${server} ${word}\n` : ''}${text}${text.endsWith('\n') ? '' : '\n'}`)
}

const REFUSED = 'refused: it is not in 4lw.commands.whitelist of the server'

function documentOf({ server, word, answer }: Asked): Readonly<Record<string, unknown>> {
  if (answer.name === 'none') return { server, word, error: answer.why }
  if (answer.name === 'refused') return { server, word, refused: true }
  const values = valuesIn(word, answer.text)
  return { server, word, ...(values === undefined ? { text: answer.text } : { values }) }
}

function showAllowed(args: Arguments, all: readonly Asked[]): number {
  const servers = [...new Set(all.map(({ server }) => server))].map((server) => {
    const ofServer = all.filter((asked) => asked.server === server)
    const wordsWith = (name: Answer['name']): string[] =>
      ofServer.filter(({ answer }) => answer.name === name).map(({ word }) => word)
    const [error] = ofServer.flatMap(({ answer }) => (answer.name === 'none' ? [answer.why] : []))
    return { server, answered: wordsWith('text'), refused: wordsWith('refused'), error }
  })
  if (args.has('json')) printJson({ servers })
  else {
    for (const { server, error } of servers) if (error !== undefined) say(`${server}: ${error}`)
    const rows = servers.map(({ server, answered, refused }) => [
      server,
      answered.join(' ') || '-',
      refused.join(' ') || '-',
    ])
    print(table([['SERVER', 'ANSWERED', 'REFUSED'], ...rows]))
  }
  return servers.some(({ error }) => error !== undefined) ? EXIT.unavailable : EXIT.done
}

function codeOf(all: readonly Asked[]): number {
  if (all.some(({ answer }) => answer.name === 'none')) return EXIT.unavailable
  return all.some(({ answer }) => answer.name === 'refused') ? EXIT.noPermission : EXIT.done
}
