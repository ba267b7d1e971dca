// The pages of docs/protocol: a chapter each, and an index.
import { type Chapter, type Check, type Clause, idOf } from '../clauses/index.ts'
import type { Releases } from '../releases/index.ts'

/** `clientClauses`: how many clauses the page about clients has. */
export function indexPage(chapters: readonly Chapter[], clientClauses: number): string {
  const rows = chapters.map(({ name, title, clauses }) => {
    const unchecked = clauses.filter(({ check }) => 'unchecked' in check).length
    return `| [${title}](${name}.md) | ${clauses.length} | ${unchecked === 0 ? '' : unchecked} |`
  })
  const total = chapters.reduce((sum, { clauses }) => sum + clauses.length, 0)
  return `# The ZooKeeper protocol

What servers of ZooKeeper 3.5 to 3.9 do, clause by clause, in ${total} clauses. \`conform HOST:PORT\` checks them on any server. A clause has
its number for good. MUST, SHOULD and MAY are meant as in RFC 2119: clients rely on a MUST. *core* is what Curator, kazoo and the Go client
need, *full* everything else that a server does without special settings, *extended* what must be enabled.

| chapter | clauses | without a check |
| --- | ---: | ---: |
${rows.join('\n')}

[What clients do](client.md) has ${clientClauses} clauses more, which \`conform client\` checks.

Written by \`pnpm protocol\` from \`packages/conform/src/clauses\`.
`
}

export function chapterPage(chapter: Chapter): string {
  return [
    `# ${chapter.title}`,
    '',
    chapter.introduction,
    ...chapter.clauses.map((clause) => clauseText(chapter, clause)),
    '',
  ].join('\n')
}

function clauseText(chapter: Chapter, clause: Clause): string {
  const { level = 'MUST', profile = 'core', text, source, since, needs = [], check } = clause
  const facts = [
    `${level}, ${profile}`,
    ...(since === undefined ? [] : [`since ${since}`]),
    ...(needs.length === 0 ? [] : [`needs ${needs.join(', ')}`]),
    source,
  ]
  const lines = ['', `## ${idOf(chapter, clause)}`, '', text, '', `*${facts.join(' · ')}*`]
  if ('unchecked' in check) lines.push('', `No check: ${check.unchecked}`)
  else lines.push(...differences(check))
  return lines.join('\n')
}

function differences({ differs = [] }: Check): string[] {
  if (differs.length === 0) return []
  return ['', ...differs.map(({ what, ...releases }) => `- ${where(releases)}: ${what}`)]
}

function where({ since, before }: Releases): string {
  if (since === undefined) return `Before ${before}`
  return `From ${since.join(', ')} on${before === undefined ? '' : `, before ${before}`}`
}
