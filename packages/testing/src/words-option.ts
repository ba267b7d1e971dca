import { show } from './connection/fault.ts'
import { answeredWords, type FourLetterWord } from './connection/words.ts'

/** The words that are answered. Throws a `TypeError` that names the option and what would be right. */
export function checkWords(
  words: readonly FourLetterWord[] = answeredWords,
  readOnlyMode: boolean,
): ReadonlySet<string> {
  if (!Array.isArray(words)) {
    throw new TypeError(`fourLetterWords must be a list of words, such as ['ruok', 'srvr'], not ${show(words)}`)
  }
  for (const word of words as readonly unknown[]) {
    if ((answeredWords as readonly unknown[]).includes(word)) continue
    throw new TypeError(`fourLetterWords: unknown word ${show(word)}; known are ${answeredWords.join(', ')}`)
  }
  // ZooKeeper itself needs these: zkServer.sh needs `srvr`, and clients that look for a member that takes writes need `isro`.
  return new Set([...words, 'srvr', ...(readOnlyMode ? ['isro'] : [])])
}
