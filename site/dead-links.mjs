import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'

/** The links of a site that lead to no file of it, or to an anchor that the page lacks. Links to other sites are not followed. */
export function deadLinks(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => posix.relative(folder, posix.join(entry.parentPath, entry.name)))
  const pages = new Map(
    files
      .filter((file) => file.endsWith('.html'))
      .map((file) => [file, parse(readFileSync(join(folder, file), 'utf8'))]),
  )
  const known = new Set(files)
  return [...pages].flatMap(([page, { links }]) =>
    links.filter((link) => !leadsSomewhere(page, link)).map((link) => `${page}: ${link}`),
  )

  function leadsSomewhere(page, link) {
    if (/^[a-z]+:/i.test(link)) return true
    const [path, anchor] = link.split('#')
    const file = path === '' ? page : posix.join(posix.dirname(page), decodeURIComponent(path))
    if (!known.has(file)) return false
    return !anchor || !pages.has(file) || pages.get(file).anchors.has(decodeURIComponent(anchor))
  }
}

function parse(html) {
  const values = (pattern) => Array.from(html.matchAll(pattern), ([, value]) => unescaped(value))
  return { links: values(/\s(?:href|src)="([^"]*)"/g), anchors: new Set(values(/\sid="([^"]*)"/g)) }
}

function unescaped(text) {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}
