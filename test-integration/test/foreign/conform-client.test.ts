// What `conform client` says of foreign clients, in situations that show how they differ. docs/conformance has what they miss in all
// situations, and why.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Adapters, startAdapters } from '../../src/foreign/index.ts'
import { shared } from '../support/shared-ensemble.ts'

const MAIN = fileURLToPath(new URL('../../../packages/conform/dist/main.js', import.meta.url))
const RESULTS = new URL('../../../docs/conformance/results.json', import.meta.url)

interface Judged {
  readonly name: string
  readonly adapter: 'kazoo' | 'curator' | 'goZookeeper'
  readonly situations: string
  readonly missed: readonly string[]
}

const judged: readonly Judged[] = [
  { name: 'kazoo 2.8.0', adapter: 'kazoo', situations: 'lost reply,wrong xid', missed: ['client/16', 'client/21'] },
  { name: 'Curator 5.4.0', adapter: 'curator', situations: 'gap,another session', missed: [] },
  {
    name: 'go-zookeeper 1.0.4',
    adapter: 'goZookeeper',
    situations: 'lost reply,wrong xid',
    missed: ['client/6', 'client/10', 'client/31'],
  },
]

const results = JSON.parse(readFileSync(RESULTS, 'utf8')) as Record<
  string,
  { readonly missed: Readonly<Record<string, string>> }
>

// Elsewhere a container's host network is that of a virtual machine, which does not reach our loopback address.
const isEngineHere = process.platform === 'linux' && shared?.description.host === '127.0.0.1'

describe.skipIf(!isEngineHere)('conform client', () => {
  let adapters: Adapters
  beforeAll(async () => {
    adapters = await startAdapters()
  })
  afterAll(() => adapters[Symbol.asyncDispose]())

  test.concurrent.for(judged)('judges $name', async ({ name, adapter, situations, missed }, { skip }) => {
    const command = adapters[adapter]
    if (command === undefined) {
      // In CI nothing may be skipped.
      if (process.env['CI'] === 'true') throw new Error('Go is not installed')
      return skip('Go is not installed')
    }
    const clauses = await judge(situations, command)
    const broken = clauses.filter(({ outcome }) => outcome === 'differs' || outcome === 'lenient').map(({ id }) => id)
    expect(broken).toEqual(missed)
    expect(clauses.filter(({ outcome }) => outcome === 'equal').length).toBeGreaterThan(15)
    expect(Object.keys(results[name]!.missed)).toEqual(expect.arrayContaining([...missed]))
  })
})

async function judge(
  situations: string,
  command: readonly string[],
): Promise<readonly { readonly id: string; readonly outcome: string }[]> {
  const folder = await mkdtemp(join(tmpdir(), 'zk-conform-'))
  const file = join(folder, 'result.jsonl')
  const words = [MAIN, 'client', '--adapter', '--situations', situations, '--json', file, '--', ...command]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const [code] = (await once(child, 'close')) as [number]
  // 1: it misses a MUST.
  if (code !== 0 && code !== 1) throw new Error(`conform ended with exit code ${code}:\n${errors}`)
  const lines = (await readFile(file, 'utf8')).trim().split('\n')
  await rm(folder, { recursive: true })
  const entries = lines.map((line) => JSON.parse(line) as { type: string; id: string; outcome: string })
  return entries.filter(({ type }) => type === 'clause')
}
