// The page of docs/protocol about clients.
import { clientChapter } from './judge-client.ts'
import { duties, dutyId } from './duties.ts'
import { situations } from './situations.ts'

export const clientClauses = duties.length

export function clientPage(): string {
  const clauses = duties.map((duty) => {
    const { level = 'MUST', text, source, shows } = duty
    return `\n## ${dutyId(duty)}\n\n${text}\n\n*${level} · ${source}*\n\nIt shows when ${shows}.\n`
  })
  const rows = situations.map(({ name, text, isActive = false }) => `| ${name} | ${text} | ${isActive ? 'yes' : ''} |`)
  return `# ${clientChapter.title}

${clientChapter.introduction}
${clauses.join('')}
## What happens to a client

\`conform client\` starts the client once for each of these situations.

| situation | what the servers do | only with an adapter |
| --- | --- | --- |
${rows.join('\n')}
`
}
