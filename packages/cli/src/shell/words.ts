// Lines as shells read them: words, and quotes as in bash. Nothing is expanded.

export type Quote = '' | "'" | '"' | "$'"

export interface Word {
  /** Without its quotes. */
  readonly text: string
  /** `text`, with a space for each character that is quoted. */
  readonly bare: string
  /** Where it begins in the line. */
  readonly start: number
  /** The quote that the line does not close. */
  readonly open: Quote
}

/** One piece of a word after the other. An open quote reaches to the end of the line. */
const PIECE =
  /\$'(?<escaped>(?:\\[^]|\\$|[^'\\])*)(?<end3>'|$)|'(?<literal>[^']*)(?<end1>'|$)|"(?<double>(?:\\[^]|\\$|[^"\\])*)(?<end2>"|$)|\\(?<single>[^])|(?<bare>\S)/y
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', e: '\x1b', a: '\x07', b: '\b' }

/** The words of a line. Only the last one may be open. */
export function wordsIn(line: string): Word[] {
  const words: Word[] = []
  const piece = new RegExp(PIECE)
  for (let at = 0; at < line.length; at++) {
    if (/\s/.test(line[at]!)) continue
    let word: Word = { text: '', bare: '', start: at, open: '' }
    for (piece.lastIndex = at; ; at = piece.lastIndex) {
      const found = piece.exec(line)
      if (found === null) break
      word = extended(word, found.groups!)
    }
    words.push(word)
  }
  return words
}

function extended(word: Word, groups: Readonly<Record<string, string | undefined>>): Word {
  const { escaped, literal, double, single, bare, end1, end2, end3 } = groups
  const text =
    (escaped && unescaped(escaped)) ?? literal ?? double?.replace(/\\(["\\$`])/g, '$1') ?? single ?? bare ?? ''
  const open = end1 === '' ? "'" : end2 === '' ? '"' : end3 === '' ? "$'" : ''
  return { ...word, text: word.text + text, bare: word.bare + (bare ?? ' '.repeat(text.length)), open }
}

function unescaped(text: string): string {
  return text.replace(/\\(?:[xu]([\da-f]{1,4})|([^]))/gi, (_, hex: string | undefined, name: string) =>
    hex === undefined ? (ESCAPES[name] ?? name) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}

/** The text as one word, which may go on in an open quote. */
export function quoted(text: string, open: Quote): string {
  switch (open) {
    case "'":
      return `'${text.replaceAll("'", String.raw`'\''`)}`
    case '"':
      return `"${text.replace(/["\\$`]/g, String.raw`\$&`)}`
    case "$'":
      return `$'${text.replace(/['\\]/g, String.raw`\$&`)}`
    case '':
      return text.replace(/[^\p{L}\p{N}_./:@%+,=-]/gu, String.raw`\$&`)
  }
}
