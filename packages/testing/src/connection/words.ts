// The four-letter words: what monitoring sends in place of a handshake.

export const WORD_SIZE = 4

export const answeredWords = [
  'conf',
  'cons',
  'crst',
  'dirs',
  'dump',
  'envi',
  'gtmk',
  'isro',
  'mntr',
  'ruok',
  'srst',
  'srvr',
  'stat',
  'wchc',
  'wchp',
  'wchs',
] as const

/** Words that a server knows too, and does not answer unless its configuration lists them (4lw.commands.whitelist). */
const unlistedWords = ['hash', 'stmk']

const words: ReadonlySet<string> = new Set([...answeredWords, ...unlistedWords])

export function isWord(word: string): boolean {
  return words.has(word)
}
