// The lists of `name=value` that both sides of DIGEST-MD5 send (RFC 2831, 7.1).

/** Parses a list into the values of each name. Names are changed to lower case. Throws an `Error` if it is not such a list. */
export function parseDirectives(bytes: Uint8Array): ReadonlyMap<string, readonly string[]> {
  const text = new TextDecoder().decode(bytes)
  const directives = new Map<string, string[]>()
  let at = 0
  while ((at = afterSeparators(text, at)) < text.length) {
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (match === null) throw new Error("DIGEST-MD5: the server's challenge is malformed")
    const [all, name = '', inQuotes, unquoted = ''] = match
    const value = inQuotes === undefined ? unquoted : inQuotes.replaceAll(/\\([^])/g, '$1')
    const key = name.toLowerCase()
    directives.set(key, [...(directives.get(key) ?? []), value])
    at += all.length
  }
  return directives
}

/** One directive, up to the next comma or the end. */
const pattern = /([\w-]+)[\t\n\r ]*=[\t\n\r ]*(?:"((?:[^"\\]|\\[^])*)"|([^\s",]+))[\t\n\r ]*(?=,|$)/y

function afterSeparators(text: string, from: number): number {
  let at = from
  while (at < text.length && ', \t\n\r'.includes(text[at]!)) at++
  return at
}

export function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}
