import { show } from './connection/fault.ts'
import { answeredWords, type FourLetterWord } from './connection/words.ts'

/** Checks the option `fourLetterWords`, and returns the words that members answer. Throws a `TypeError`. */
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
  // As in ZooKeeper: zkServer.sh asks `srvr`, and clients ask `isro` to find a member that accepts writes.
  return new Set([...words, 'srvr', ...(readOnlyMode ? ['isro'] : [])])
}
