// `conform list` and `conform explain`.
import { clientChapter } from '../client/judge-client.ts'
import { situations } from '../client/situations.ts'
import { chapters as ofServers, type Clause, idOf } from '../clauses/index.ts'
import { UsageError } from './usage.ts'

const chapters = [...ofServers, clientChapter]

/** All clauses, or those of a chapter, one a line; or the situations of clients. */
export function list(name?: string): string {
  if (name === 'situations') return situations.map(({ name, text }) => `  ${name.padEnd(24)}${text}\n`).join('')
  const chosen = name === undefined ? chapters : chapters.filter((chapter) => chapter.name === name)
  if (chosen.length === 0) {
    throw new UsageError(
      `there is no chapter '${name}': it is one of ${chapters.map((chapter) => chapter.name).join(', ')}, or situations`,
    )
  }
  return chosen
    .map((chapter) => {
      const lines = chapter.clauses.map((clause) => `  ${idOf(chapter, clause).padEnd(24)}${clause.text}`)
      return `${chapter.title}\n${lines.join('\n')}\n`
    })
    .join('\n')
}

export function explain(id: string): string {
  const { clause, title } = find(id)
  const { level = 'MUST', profile = 'core', text, source, since, needs = [], follows = [], check } = clause
  const lines = [
    `${id}  (${title})`,
    '',
    `${level}: ${text}`,
    '',
    `source    ${source}`,
    `profile   ${profile}`,
    ...(since === undefined ? [] : [`since     ${since}`]),
    ...(needs.length === 0 ? [] : [`needs     ${needs.join(', ')}`]),
    ...(follows.length === 0 ? [] : [`follows   ${follows.join(', ')}`]),
  ]
  if ('unchecked' in check) lines.push(`no check  ${check.unchecked}`)
  else {
    lines.push(`expected  ${check.expect.join(' | ')}`)
    for (const { what, before, since: from, expect } of check.differs ?? []) {
      const which = before === undefined ? `from ${from?.join(', ') ?? 'always'}` : `before ${before}`
      lines.push(`${which}: ${what}`, `          ${expect.join(' | ')}`)
    }
  }
  return `${lines.join('\n')}\n`
}

function find(id: string): { readonly clause: Clause; readonly title: string } {
  for (const chapter of chapters) {
    const clause = chapter.clauses.find((each) => idOf(chapter, each) === id)
    if (clause !== undefined) return { clause, title: chapter.title }
  }
  throw new UsageError(`there is no clause '${id}': see \`conform list\``)
}
