import { expect, test } from 'vitest'
import { type Quote, quoted, wordsIn } from '../src/shell/words.ts'

test.each([
  ['get /a', ['get', '/a']],
  ['  set  /a   "two words" ', ['set', '/a', 'two words']],
  [String.raw`/a\ b '/c d'"/e"f`, ['/a b', '/c d/ef']],
  [String.raw`'$x \n' "\"\\ \n" $'\t\x41\u00e9\''`, [String.raw`$x \n`, String.raw`"\ \n`, "\tAé'"]],
  ['"" x', ['', 'x']],
  ['$HOME *', ['$HOME', '*']],
  ['', []],
])('wordsIn reads %s', (line, words) => {
  expect(wordsIn(line).map(({ text }) => text)).toEqual(words)
})

test.each([
  ["get '/a b", '/a b', "'"],
  ['get "/a b', '/a b', '"'],
  ['get "/a b\\', '/a b\\', '"'],
  ["get $'/a", '/a', "$'"],
  ["get '/a'b", '/ab', ''],
])('wordsIn finds what is not closed: %s', (line, text, open) => {
  expect(wordsIn(line).at(-1)).toMatchObject({ text, open })
})

test('wordsIn knows which characters are not quoted', () => {
  expect(wordsIn(String.raw`a:"b:"\:c`)[0]).toMatchObject({ text: 'a:b::c', bare: 'a:   c' })
})

test('quoted is what wordsIn reads, whatever is in the text', () => {
  const texts = ['/a b', `/it's "x"`, '/$HOME `x` \\', '/#a;b|c&(d)<e>', '/ümlaut/*?[x]{y}~!']
  for (const text of texts) {
    for (const open of ['', "'", '"', "$'"] as Quote[]) {
      const line = `${quoted(text, open)}${open.at(-1) ?? ''}`
      expect(wordsIn(line).map((word) => word.text)).toEqual([text])
    }
  }
})
