// The four-letter words: what monitoring sends in place of a handshake.

export const WORD_SIZE = 4

/** A four-letter word that a member answers. */
export type FourLetterWord =
  | 'conf'
  | 'cons'
  | 'crst'
  | 'dirs'
  | 'dump'
  | 'envi'
  | 'gtmk'
  | 'isro'
  | 'mntr'
  | 'ruok'
  | 'srst'
  | 'srvr'
  | 'stat'
  | 'wchc'
  | 'wchp'
  | 'wchs'

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
] as const satisfies readonly FourLetterWord[]

/** Other words of real servers. Members know them as words, but always refuse them. */
const unansweredWords = ['hash', 'stmk']

const words: ReadonlySet<string> = new Set([...answeredWords, ...unansweredWords])

export function isWord(word: string): boolean {
  return words.has(word)
}
