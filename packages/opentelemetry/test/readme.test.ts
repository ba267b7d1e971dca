// The tables of README.md are those of the real SDK. `UPDATE_TABLES=1` writes them.
import { readFileSync, writeFileSync } from 'node:fs'
import { SpanKind } from '@opentelemetry/api'
import { Lock, WaitTimeoutError, op } from '@zk/recipes'
import { expect, test } from 'vitest'
import { clientOf, ensembleOf, lostWrite, Observed, queued, type Series } from './support.ts'

const file = new URL('../README.md', import.meta.url)
const read = () => readFileSync(file, 'utf8')

/** Writes the table between the marks, or compares it with what is there. */
function expectTable(name: string, rows: readonly (readonly string[])[]): void {
  const [head, ...body] = rows.map((row) => `| ${row.join(' | ')} |`)
  const table = [head, `|${'---|'.repeat(rows[0]!.length)}`, ...body].join('\n')
  const [begin, end] = [`<!-- ${name}:begin -->\n`, `<!-- ${name}:end -->`]
  const [before = '', rest = ''] = read().split(begin)
  if (process.env['UPDATE_TABLES'] === '1')
    writeFileSync(file, `${before}${begin}${table}\n${rest.slice(rest.indexOf(end))}`)
  expect(read()).toContain(`${begin}${table}\n${end}`)
}

const code = (text: string) => `\`${text}\``
const codes = (names: Iterable<string>) => [...new Set(names)].toSorted().map(code).join(', ')

/** As the OpenTelemetry collector names it. */
function inPrometheus({ name, unit, kind }: Series): string {
  const base = name.replaceAll('.', '_') + (unit === 's' ? '_seconds' : '')
  return kind === 'counter' ? `${base}_total` : base
}

/** Does everything that has a span or a metric. */
async function everything(): Promise<Observed> {
  const observed = new Observed({ pathPrefixes: ['/locks'] })
  const ensemble = await ensembleOf()
  const zk = await clientOf(ensemble)
  await zk.multi([op.create('/a'), op.create('/b')])
  await zk.getData('/none').catch(() => {})
  const lock = new Lock(zk, '/locks/report')
  const held = await lock.acquire()
  const aborting = new AbortController()
  const { acquiring } = await queued(lock, aborting.signal)
  await observed.series()
  aborting.abort(new Error('enough'))
  await expect(acquiring).rejects.toThrow('enough')
  await expect(lock.acquire({ timeout: 10 })).rejects.toThrow(WaitTimeoutError)
  await lostWrite(zk, ensemble, '/locks/report/x')
  await expect.poll(() => zk.state.name).toBe('connected')
  ensemble.sessions.expire(zk.session.id)
  await expect.poll(() => held.isHeld()).toBe(false)
  return observed
}

test('README.md lists every span and every metric, with their attributes, and says what each attribute is', async () => {
  const observed = await everything()
  const series = await observed.series()
  const names = [...new Set(series.map(({ name }) => name))].toSorted()
  const metrics = names.map((name) => {
    const all = series.filter((each) => each.name === name)
    const [{ kind, unit, description }] = all as [Series]
    const attributes = codes(all.flatMap((each) => Object.keys(each.attributes)))
    return [code(name), code(inPrometheus(all[0]!)), kind, unit === 's' ? 's' : '', attributes, description]
  })
  expectTable('metrics', [['metric', 'in Prometheus', 'kind', 'unit', 'attributes', 'what it is'], ...metrics])

  const kindOf = (name: string) => (/^(acquire|hold) /.test(name) ? name.split(' ')[0]! : 'call')
  const shown: Record<string, [name: string, what: string]> = {
    call: ['`create`, `getData` …', 'a call of the client: from the call to its answer'],
    acquire: ['`acquire lock`, `acquire latch` …', 'the wait for a lock'],
    hold: ['`hold lock`, `hold latch` …', 'a lock that is held'],
  }
  const spans = Object.entries(shown).map(([kind, [name, what]]) => {
    const all = observed.spans.filter((span) => kindOf(span.name) === kind)
    expect(all.length).toBeGreaterThan(0)
    return [name, SpanKind[all[0]!.kind], codes(all.flatMap((span) => Object.keys(span.attributes))), what]
  })
  expectTable('spans', [['span', 'kind', 'attributes', 'what it is'], ...spans])

  const used = [
    ...series.flatMap(({ attributes }) => Object.keys(attributes)),
    ...observed.spans.flatMap(({ attributes }) => Object.keys(attributes)),
  ]
  const section = read().split('## Attributes')[1]!.split('**Names.**')[0]!
  const listed = [...section.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell]) => cell!.match(/(?<=`)[\w.]+(?=`)/g)!)
  expect(listed.toSorted()).toEqual([...new Set(used)].toSorted())
})
