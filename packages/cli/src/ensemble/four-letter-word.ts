// Four-letter words: one word to a server on a connection of its own, and its answer.
import { type DialTarget, systemRuntime } from '@zk/client'
import { concat } from '@zk/wire'

export type Answer =
  | { readonly name: 'text'; readonly text: string }
  /** The word is not in `4lw.commands.whitelist` of the server. */
  | { readonly name: 'refused' }
  | { readonly name: 'none'; readonly why: string }

interface AskOptions {
  /** For the whole answer, in ms. */
  readonly timeout: number
  /** Whether the beginning of the answer is enough. The answer of `stat` lists all connections. */
  readonly isBeginningEnough?: boolean
}

const REFUSED = /^\w{4} is not executed because it is not in the whitelist/
/** Long enough to recognize `REFUSED`. */
const BEGINNING = 64

/** Never rejects. */
export function ask(server: DialTarget, word: string, options: AskOptions): Promise<Answer> {
  const { timeout, isBeginningEnough = false } = options
  return new Promise((resolve) => {
    const chunks: Uint8Array[] = []
    let length = 0
    const finish = (why: string): void => {
      cancel()
      connection.close()
      const text = new TextDecoder().decode(concat(chunks))
      if (REFUSED.test(text)) resolve({ name: 'refused' })
      else if (text === '') resolve({ name: 'none', why })
      else resolve({ name: 'text', text })
    }
    const cancel = systemRuntime.setTimer(timeout, () => {
      // A part of an answer is no answer.
      chunks.length = 0
      finish(`no answer after ${timeout} ms`)
    })
    let isOpen = false
    const connection = systemRuntime.dial(server, {
      opened: () => {
        isOpen = true
        connection.write(new TextEncoder().encode(word))
      },
      received: (bytes) => {
        chunks.push(bytes.slice())
        length += bytes.length
        if (isBeginningEnough && length >= BEGINNING) finish('')
      },
      drained: () => {},
      lost: ({ message }) => finish(isOpen ? 'the server closed the connection without an answer' : message),
    })
  })
}

/** The answer to `cons`: the address of the client of each session. */
export function clientsIn(cons: string): Map<bigint, string> {
  const lines = cons.matchAll(/^\s*\/(\S+?)\[\d+\]\((.*)\)$/gm)
  return new Map(
    [...lines].flatMap(([, address = '', fields = '']) => {
      const [, sid] = /(?:^|,)sid=(0x[0-9a-f]+)/.exec(fields) ?? []
      return sid === undefined ? [] : [[BigInt(sid), address] as const]
    }),
  )
}

/** The words whose answers are lines of a name and a value, and what is between the two. */
const SEPARATORS: Readonly<Record<string, string>> = { mntr: '\t', conf: '=', envi: '=' }

/** The values in an answer; undefined if the word has no such answer. Numbers become numbers if they stay exact. */
export function valuesIn(word: string, text: string): Readonly<Record<string, string | number>> | undefined {
  const separator = SEPARATORS[word]
  if (separator === undefined) return undefined
  const pairs = text.split('\n').flatMap((line) => {
    const at = line.indexOf(separator)
    return at < 1 ? [] : [[line.slice(0, at), valueOf(line.slice(at + separator.length).trim())] as const]
  })
  // A server that serves nothing says so in a sentence.
  return pairs.length === 0 ? undefined : Object.fromEntries(pairs)
}

function valueOf(text: string): string | number {
  const number = Number(text)
  return /^-?\d+(\.\d+)?$/.test(text) && Math.abs(number) <= Number.MAX_SAFE_INTEGER ? number : text
}
