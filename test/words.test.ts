// Documents and comments are in the English of a native speaker. These patterns give a translation away.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { markdownBelow, root, sourcesIn, workspaces } from './workspace.ts'

/** What only a translation says, and what to write. */
const everywhere: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [
    /\bbehind (?:(?:the|its|his|that|each|every|all|earlier|other|an?|our|both) )*(?:\w+ )?(?:answers?|repl(?:y|ies)|creates?|creation|deletes?|writes?|reads?|lists?|Gaps?|checks?|syncs?|events?|calls?|commits?|grants?|headers?|lengths?|rounds?|turns?|awaits?)\b/,
    'after',
  ],
  [/\bstands? again\b/, 'campaigns again'],
  [/\b(?:that|it|which|who) (?:is|are|was) none\b/, 'is not one, is invalid'],
  [/\bof (?:itself|himself|themselves)\b/, 'its own, by itself'],
  [/\bof one's own\b/, 'your own, its own'],
  [/\bof another realm\b/, 'from another realm'],
  [/\bmakes? of (?:the|it|a|its)\b/, 'the result, the return value'],
  [/\bstands? in the way\b/, 'blocks'],
  [/\bis well again\b/, 'has recovered'],
  [/\bgoes by (?:a|the) list\b/, 'uses a list'],
  [/\bhow often it is looked\b/, 'poll interval'],
  [/\bwhere (?:its|it|there) (?:is|was|are|were) (?:none|no|not)\b/, 'if'],
  [/^Whatever \w+s\b/, 'subject first: a call that …'],
  [/\bTogether with that\b/, 'also'],
  [/\bbeside that\b/, 'besides'],
]

/** Also in what is read most: a pronoun stands beside its noun. Write the noun again, or "the" and the noun. */
const inMarkdown: typeof everywhere = [
  [/\bones? that\b/, 'the noun'],
  [/\bthose that\b/, 'the noun'],
  [/\ball that there is\b/, 'everything'],
]

/** Paragraphs, list items and rows of tables, without code. Each begins at a line, and has no line ends. */
function passagesOf(markdown: string): string[] {
  const prose = markdown.replace(/^```.*?^```/gms, '').replace(/`[^`\n]*`/g, '`…`')
  return prose
    .split(/\n\s*\n|\n(?=\s*[-*|>#] ?)/)
    .map((passage) => passage.replace(/\s+/g, ' ').replace(/^[ \-*|>#]+/, ''))
}

/** The comments of a source, each in one line. */
function commentsOf(source: string): string[] {
  const lines = source.split('\n').map((line) => /^\s*(?:\/\/|\/?\*+)\s?(?<text>.*)$/.exec(line)?.groups!.text)
  return lines
    .map((text) => text ?? '\n')
    .join(' ')
    .replace(/`[^`\n]*`/g, '`…`')
    .split('\n')
    .map((comment) => comment.trim())
}

const found = (passages: readonly string[], patterns: typeof everywhere) =>
  passages.flatMap((passage) =>
    patterns.flatMap(([pattern, instead]) => {
      const [match] = pattern.exec(passage) ?? []
      return match === undefined ? [] : [`"${match}" in: ${passage.slice(0, 150)}. Write: ${instead}`]
    }),
  )

const documents = markdownBelow('').filter((path) => !path.endsWith('.api.md'))
const sources = workspaces.flatMap(({ folder }) => sourcesIn(`${folder}/src`)).filter((path) => path.endsWith('.ts'))

/** Reads each file, and names it in what is found. */
const foundIn = (paths: readonly string[], split: (text: string) => string[], patterns: typeof everywhere) =>
  paths.flatMap((path) =>
    found(split(readFileSync(join(root, path), 'utf8')), patterns).map((each) => `${path}: ${each}`),
  )

test('documents have no words of a translation', () => {
  expect(documents.length).toBeGreaterThan(40)
  expect(foundIn(documents, passagesOf, [...everywhere, ...inMarkdown])).toEqual([])
})

test('comments of sources have no words of a translation', () => {
  expect(sources.length).toBeGreaterThan(300)
  expect(foundIn(sources, commentsOf, everywhere)).toEqual([])
})

// The formatter leaves comments as they are.
test('comments of sources have no line of more than 140 characters', () => {
  const long = sources.flatMap((path) =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .filter((line) => line.length > 140 && /^\s*(?:\/\/|\/?\*)/.test(line))
      .map((line) => `${path}: ${line}`),
  )
  expect(long).toEqual([])
})

test('the patterns find words across the ends of lines, and none in code', () => {
  expect(found(passagesOf('Read again behind\neach Gap.\n\n- a signal that is none'), everywhere)).toHaveLength(2)
  expect(found(commentsOf('/** Read again behind the\n * last answer. */\n'), everywhere)).toHaveLength(1)
  expect(found(passagesOf('Nothing is left behind. It lags behind. `behind the answer`'), everywhere)).toEqual([])
})
