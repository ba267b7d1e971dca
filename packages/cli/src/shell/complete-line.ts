// The hidden command that the scripts of `zk completion` call. It is silent about everything that goes wrong.
import { setTimeout as pause } from 'node:timers/promises'
import type { Commands } from '../command/command.ts'
import { connectWith } from '../command/connection.ts'
import type { Arguments } from '../command/options.ts'
import { print } from '../command/output.ts'
import { readProfiles } from '../command/profiles.ts'
import { complete, type Completion, type Sources } from './complete.ts'
import { quoted, wordsIn } from './words.ts'

/** How long somebody who has pressed a key waits for the names of nodes, in ms; and then for the end of the session. */
const PATIENCE = 1_000
const GOODBYE = 200

/**
 * The words are the name of the shell, and for bash the line up to the cursor and COMP_WORDBREAKS; for others the words up to the cursor.
 * Ends the process: a session that a server does not close in time must not keep the prompt waiting.
 */
export async function completeLine([shell, ...words]: readonly string[], commands: Commands): Promise<never> {
  try {
    print(shell === 'bash' ? await forBash(words, commands) : await forOthers(words, commands))
  } catch {
    // No completion.
  }
  process.exit(0)
}

async function forOthers(words: readonly string[], commands: Commands): Promise<string> {
  const { kind, candidates } = await complete(words.slice(0, -1), words.at(-1) ?? '', sourcesOf(commands))
  return linesOf(
    kind,
    candidates.map(({ text, help }) => (help === undefined ? text : `${text}\t${help}`)),
  )
}

/** bash replaces only what follows the last character of COMP_WORDBREAKS, or the open quote, and takes the rest as it is. */
async function forBash([line = '', breaks = '']: readonly string[], commands: Commands): Promise<string> {
  const words = wordsIn(line)
  const current = /\s$/.test(line) && words.at(-1)?.open === '' ? undefined : words.pop()
  const texts = words.slice(1).map(({ text }) => text)
  const { kind, candidates } = await complete(texts, current?.text ?? '', sourcesOf(commands))
  const { bare = '', open = '' } = current ?? {}
  const kept =
    Math.max(
      -1,
      ...breaks
        .trim()
        .split('')
        .map((each) => bare.lastIndexOf(each)),
    ) + 1
  const rest = candidates.map(({ text }) => quoted(text.slice(open === '' ? kept : 0), open).slice(open.length))
  return linesOf(kind, rest)
}

function linesOf(kind: Completion['kind'], lines: readonly string[]): string {
  return [kind, ...lines].map((line) => `${line}\n`).join('')
}

function sourcesOf(commands: Commands): Sources {
  return {
    commands,
    profiles: () => Object.keys(readProfiles(process.env).profiles),
    resolve: (path) => (path === '/' ? path : path.startsWith('/') ? path.replace(/\/$/, '') : undefined),
    children: childrenOf,
  }
}

async function childrenOf(path: string, args: Arguments): Promise<readonly string[]> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), PATIENCE)
  try {
    const zk = await connectWith(args, process.env, limit.signal)
    try {
      return (await zk.getChildren(path, { signal: limit.signal })).children
    } finally {
      await Promise.race([zk.close(), pause(GOODBYE)])
    }
  } finally {
    clearTimeout(timer)
  }
}
