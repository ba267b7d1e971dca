// Judges servers and clients with @zk/conform, and writes docs/conformance: `pnpm conformance`. It starts all of them, and needs
// Docker, Maven and Go.
//
//   pnpm conformance kazoo 'ZooKeeper 3.9.6'     only those whose names begin so
//   pnpm conformance --page                      only the page, after reasons were written into results.json
//   pnpm conformance --check                     whether the page is what docs/conformance/results.json says
//
// In results.json each clause that is missed has a reason, which is kept. docs/conformance/comparison.html, which is not in the
// repository, has every clause of the servers that were judged.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const command = join(root, 'packages/conform/dist/main.js')
const folder = join(root, 'docs/conformance')
const page = join(folder, 'README.md')
const results = join(folder, 'results.json')
const NO_REASON = 'say why'
const MISSED = new Set(['differs', 'lenient', 'unsupported', 'stopped'])

const words = process.argv.slice(2)
if (words.includes('--check')) check()
else if (words.includes('--page')) writeFileSync(page, pageOf(read()))
else await judgeAll(words)

function read() {
  return JSON.parse(readFileSync(results, 'utf8'))
}

function check() {
  const complain = (problem) => {
    console.error(`docs/conformance/${problem}`)
    process.exitCode = 1
  }
  const known = read()
  if (readFileSync(page, 'utf8') !== pageOf(known))
    complain('README.md is not what results.json says: pnpm conformance')
  for (const [name, { date, missed }] of Object.entries(known)) {
    if (!/^20\d\d-\d\d-\d\d$/.test(date)) complain(`results.json: ${name} has no date`)
    for (const [id, why] of Object.entries(missed)) {
      if (why === NO_REASON) complain(`results.json: ${name} misses ${id}, and there is no reason`)
    }
  }
}

async function judgeAll(names) {
  const { subjects } = await import('../test-integration/dist/conformance/subjects.js')
  const chosen = subjects.filter(({ name }) => names.length === 0 || names.some((word) => name.startsWith(word)))
  if (chosen.length === 0) throw new Error(`there is none of these: ${subjects.map(({ name }) => name).join(', ')}`)
  const target = mkdtempSync(join(tmpdir(), 'conformance-'))
  const files = []
  for (const [index, { name, kind, use }] of chosen.entries()) {
    console.log(`${name}, ${index + 1} of ${chosen.length}`)
    const file = join(target, `${index}.jsonl`)
    const judgeIt = async (asked) => {
      const problems = await judge(asked, file)
      const known = read()
      known[name] = resultOf(kind, readFileSync(file, 'utf8'), problems, known[name]?.missed ?? {})
      // In the order of the subjects, also if only some were judged.
      const sorted = subjects.flatMap(({ name: each }) => (known[each] === undefined ? [] : [[each, known[each]]]))
      writeFileSync(results, `${JSON.stringify(Object.fromEntries(sorted), undefined, 2)}\n`)
      writeFileSync(page, pageOf(Object.fromEntries(sorted)))
      if (kind === 'server') files.push(file)
    }
    try {
      await use(judgeIt)
    } catch (error) {
      // The others can be judged: its old result stays.
      console.error(error)
      process.exitCode = 1
    }
  }
  if (files.length > 0) execFileSync('node', [command, 'compare', ...files, '--html', join(folder, 'comparison.html')])
  rmSync(target, { recursive: true })
}

/** Returns what a client did that it should not do. */
async function judge(asked, file) {
  const at = asked.indexOf('--')
  const [own, program] = at === -1 ? [asked, []] : [asked.slice(0, at), asked.slice(at)]
  const child = spawn('node', [command, ...own, '--json', file, ...program], { stdio: ['ignore', 'inherit', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (errors += text))
  const [code] = await once(child, 'close')
  // 1 means differences, which the page shows; 4 that the program of a client has ended.
  if (code !== 0 && code !== 1 && code !== 4) throw new Error(`exit code ${code}: ${errors}`)
  return Array.from(errors.matchAll(/^conform: (.*)$/gm), ([, problem]) => problem)
}

function resultOf(kind, text, problems, reasons) {
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const { as, at } = lines.find(({ type }) => type === 'run')
  const { core, full, extended, scenarios } = lines.find(({ type }) => type === 'summary')
  const clauses = lines.filter(({ type }) => type === 'clause')
  const missed = clauses.filter(({ outcome }) => MISSED.has(outcome)).map(({ id }) => [id, reasons[id] ?? NO_REASON])
  const counts =
    kind === 'server'
      ? {
          as,
          ...Object.fromEntries(Object.entries({ core, full, extended }).map(([name, each]) => [name, ofTried(each)])),
        }
      : { kept: ofTried(core) }
  return {
    kind,
    date: at.slice(0, 10),
    ...counts,
    ...(kind === 'server' && { scenarios: `${scenarios.equal} of ${scenarios.tried}` }),
    ...(problems.length > 0 && { problems }),
    missed: Object.fromEntries(missed),
  }
}

function ofTried({ passed, tried }) {
  return `${passed} of ${tried}`
}

function pageOf(all) {
  const entries = Object.entries(all)
  const servers = entries.filter(([, { kind }]) => kind === 'server')
  const clients = entries.filter(([, { kind }]) => kind === 'client')
  const ids = ({ missed }) =>
    Object.keys(missed)
      .map((id) => `\`${id}\``)
      .join(', ') || 'none'
  const row = (cells) => `| ${cells.join(' | ')} |`
  const reasons = entries.flatMap(([name, { missed, problems = [] }]) => [
    ...Object.entries(missed).map(([id, why]) => `- ${name}, \`${id}\`: ${why}`),
    ...problems.map((problem) => `- ${name}, in ${problem}.`),
  ])
  return `# Conformance

What [\`@zk/conform\`](../../packages/conform/README.md) says of servers and clients. \`pnpm conformance\` starts them and writes this page.

## Servers

\`as\` is the release that the server resembles most. Clauses that need what a server was not given, such as SASL, do not count.

| server | date | as | core | full | extended | scenarios | missed |
| --- | --- | --- | --- | --- | --- | --- | --- |
${servers
  .map(([name, each]) =>
    row([name, each.date, each.as, each.core, each.full, each.extended, each.scenarios, ids(each)]),
  )
  .join('\n')}

## Clients

With their [adapters](../guide/adapters.md), in all situations. [What clients do](../protocol/client.md) has the clauses.

| client | date | kept | missed |
| --- | --- | --- | --- |
${clients.map(([name, each]) => row([name, each.date, each.kept, ids(each)])).join('\n')}

Why:

${reasons.join('\n')}
`
}
