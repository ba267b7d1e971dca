// What the word at the cursor may become: from the tables of commands and options, the profiles, and the nodes.
import { type Command, type Commands, optionsOf } from '../command/command.ts'
import { type Arguments, type Option, readArguments } from '../command/options.ts'
import { type Kind, kindAt, kindOfValue } from './usage.ts'

export interface Candidate {
  readonly text: string
  readonly help?: string
}

export interface Completion {
  /**
   * `words` are whole, `prefixes` may go on. `files` and `programs` are for the shell to find; there are no candidates then.
   */
  readonly kind: 'words' | 'prefixes' | 'files' | 'programs'
  readonly candidates: readonly Candidate[]
}

export interface Sources {
  readonly commands: Commands
  profiles(): readonly string[]
  /** The names of the children, in any order. `args` are the words of the command before the cursor. */
  children(path: string, args: Arguments): Promise<readonly string[]>
  /** The absolute path; undefined if there is none yet. */
  resolve(path: string): string | undefined
}

const NOTHING: Completion = { kind: 'words', candidates: [] }

/** `words` are those after `zk` and before the one at the cursor, of which `current` is the part before the cursor. */
export async function complete(words: readonly string[], current: string, sources: Sources): Promise<Completion> {
  const [name, ...rest] = words
  if (name === undefined || (name === 'help' && rest.length === 0)) {
    const commands = Object.entries(sources.commands).map(([text, { summary }]) => ({ text, help: summary }))
    return startingWith(current, name === undefined ? [...commands, HELP] : commands)
  }
  if (!Object.hasOwn(sources.commands, name)) return NOTHING
  const command = await sources.commands[name]!.load()
  const end = rest.indexOf('--')
  if (end >= 0) return { kind: end === rest.length - 1 ? 'programs' : 'files', candidates: [] }
  return completeWord(command, rest, current, sources)
}

const HELP: Candidate = { text: 'help', help: 'Lists the commands.' }

function completeWord(command: Command, words: readonly string[], current: string, sources: Sources) {
  const options = optionsOf(command)
  const open = optionBefore(words, options)
  if (open !== undefined) return completeValue(kindOfValue(open), '', current, words.slice(0, -1), options, sources)
  const [, start = '', name] = /^(--([\w-]+)=)/.exec(current) ?? []
  if (name !== undefined) {
    const option = options.find((option) => option.name === name && option.value !== undefined)
    if (option === undefined) return NOTHING
    return completeValue(kindOfValue(option), start, current.slice(start.length), words, options, sources)
  }
  if (current.startsWith('-')) {
    const unused = options.filter(({ name, isRepeatable }) => isRepeatable || !words.includes(`--${name}`))
    return startingWith(
      current,
      unused.map(({ name, help }) => ({ text: `--${name}`, help })),
    )
  }
  const kind = kindAt(command.usage, placesIn(words, options))
  return kind === undefined ? NOTHING : completeValue(kind, '', current, words, options, sources)
}

/** The option whose value is at the cursor. */
function optionBefore(words: readonly string[], options: readonly Option[]): Option | undefined {
  const last = words.at(-1) ?? ''
  const option = options.find(
    ({ name, short }) => last === `--${name}` || (short !== undefined && new RegExp(`^-\\w*${short}$`).test(last)),
  )
  return option?.value === undefined ? undefined : option
}

/** How many of the words are no options, and no values of options. */
function placesIn(words: readonly string[], options: readonly Option[]): number {
  return words.filter((word, index) => !/^-./.test(word) && optionBefore(words.slice(0, index), options) === undefined)
    .length
}

async function completeValue(
  kind: Kind,
  start: string,
  current: string,
  words: readonly string[],
  options: readonly Option[],
  sources: Sources,
): Promise<Completion> {
  const names = (texts: readonly string[]): Completion =>
    startingWith(
      start + current,
      texts.map((text) => ({ text: start + text })),
    )
  switch (kind) {
    case 'OTHER':
      return NOTHING
    case 'FILE':
      return { kind: 'files', candidates: [] }
    case 'PROFILE':
      return names(sources.profiles())
    case 'PATH': {
      const paths = await pathsFrom(current, readArguments(words, options), sources)
      return { kind: 'prefixes', candidates: paths.map((text) => ({ text: start + text })) }
    }
    default:
      return names(kind)
  }
}

/** The nodes that begin with this text. If it is a node already, and no other begins so, its children. */
async function pathsFrom(text: string, args: Arguments, sources: Sources): Promise<readonly string[]> {
  const folder = text.slice(0, text.lastIndexOf('/') + 1)
  const children = async (path: string): Promise<readonly string[]> => {
    const parent = sources.resolve(path)
    if (parent === undefined) return []
    // Lines of shells are for people: what a terminal would not show is not completed.
    return (await sources.children(parent, args)).filter((name) => !/[\p{C}\p{Zl}\p{Zp}]/u.test(name)).sort()
  }
  const start = folder === '' && sources.resolve('') === undefined ? '/' : folder
  if (start !== folder && text !== '') return []
  const found = (await children(start)).map((name) => start + name).filter((path) => path.startsWith(text))
  if (found.length !== 1 || found[0] !== text) return found
  return (await children(text)).map((name) => `${text}/${name}`)
}

function startingWith(text: string, candidates: readonly Candidate[]): Completion {
  return { kind: 'words', candidates: candidates.filter((candidate) => candidate.text.startsWith(text)) }
}
