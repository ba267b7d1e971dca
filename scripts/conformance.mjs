// Judges servers with @zk/conform, and writes docs/conformance/README.md.
//
//   node scripts/conformance.mjs 'ZooKeeper 3.9.6=127.0.0.1:2181' 'ZooKeeper 3.9.6, three=127.0.0.1:2181,127.0.0.1:2182,127.0.0.1:2183'
//   node scripts/conformance.mjs 'ZooKeeper 3.9.6=result.jsonl'     from a result of `conform --json`
//
// The superuser of the servers must be super:secret. docs/conformance/comparison.html, which is not in the repository, has
// every clause.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const command = join(root, 'packages/conform/dist/main.js')
const page = join(root, 'docs/conformance/README.md')

const subjects = process.argv.slice(2).map((argument) => argument.split('=', 2))
if (subjects.length === 0 || subjects.some(([, at]) => at === undefined)) {
  console.error(
    "conformance: it needs names and servers: node scripts/conformance.mjs 'ZooKeeper 3.9.6=127.0.0.1:2181'",
  )
  process.exit(2)
}
const folder = mkdtempSync(join(tmpdir(), 'conformance-'))
const files = subjects.map(([name, at]) => (at.endsWith('.jsonl') ? at : judged(name, at)))
const rows = subjects.map(([name], index) => rowOf(name, readFileSync(files[index], 'utf8')))
writeFileSync(page, pageOf(rows))
execFileSync('node', [command, 'compare', ...files, '--html', join(root, 'docs/conformance/comparison.html')])

function judged(name, servers) {
  const file = join(folder, `${name.replaceAll(/[^\w.]+/g, '-')}.jsonl`)
  const { status } = spawnSync('node', [command, servers, '--super', 'super:secret', '--json', file], {
    stdio: 'inherit',
  })
  // 1 means differences, which the page shows.
  if (status !== 0 && status !== 1) throw new Error(`${name} could not be judged: exit code ${status}`)
  return file
}

function rowOf(name, text) {
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const { as, at } = lines.find(({ type }) => type === 'run')
  const { core, full, extended, scenarios } = lines.find(({ type }) => type === 'summary')
  const differ = lines.filter(
    ({ type, outcome }) => type === 'clause' && ['differs', 'lenient', 'unsupported', 'stopped'].includes(outcome),
  )
  const counts = [core, full, extended].map(({ passed, tried }) => `${passed} of ${tried}`)
  const differences = differ.map(({ id }) => `\`${id}\``).join(', ') || 'none'
  return `| ${[name, at.slice(0, 10), as, ...counts, `${scenarios.equal} of ${scenarios.tried}`, differences].join(' | ')} |`
}

function pageOf(rows) {
  return `# Conformance

What [\`@zk/conform\`](../../packages/conform/README.md) says of servers. \`as\` is the release that the server resembles most. Clauses that need
what a server was not given, such as SASL, do not count. \`pnpm conformance\` writes this page.

| server | date | as | core | full | extended | scenarios | differences |
| --- | --- | --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
`
}
