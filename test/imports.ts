// The sources of this repository, and what they import.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './workspace.ts'

export function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** What a file imports, as it is written there. */
export function importsOf(path: string): string[] {
  const statements = withoutText(read(path), { keepStrings: true }).matchAll(/\b(?:from|import)\s*\(?\s*(['"])(.+?)\1/g)
  return Array.from(statements, ([, , specifier = '']) => specifier)
}

/** Removes comments and the contents of strings. This is good enough for code that is formatted and linted. */
export function withoutText(source: string, { keepStrings = false } = {}): string {
  const texts = /\/\/.*|\/\*[^]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[^]|[^`\\])*`/g
  return source.replace(texts, (text) => {
    if (text.startsWith('/')) return ''
    return keepStrings && !text.startsWith('`') ? text : "''"
  })
}
