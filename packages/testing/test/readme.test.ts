import { readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { EnsembleModel } from '../src/index.ts'
import { answeredWords } from '../src/connection/words.ts'
import { checkOptions } from '../src/options.ts'
import { WORLD_OPTIONS } from '../src/virtual/virtual-world.ts'
import { main } from './readme-example.ts'

const sourceOf = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')
const readme = sourceOf('../README.md')

const section = (title: string) => new RegExp(`## ${title}\n([^]*?)\n## `).exec(readme)![1]!
/** What is there for the ensemble itself, what every iterable has, and what logs use. */
const INTERNAL: ReadonlySet<string> = new Set(['constructor', 'add', 'isKept', 'toString', 'toJSON', 'length'])
/** What stands in backticks in the first column. */
const listed = (text: string) => text.match(/^\| `.*?` \|/gm)!.flatMap((row) => row.match(/\w+/g)!)

test('README shows the example that runs here', () => {
  const [, shown] = /```ts\n([^]*?)```/.exec(readme)!
  const [ran] = sourceOf('readme-example.ts').replace('../src/index.ts', '@zk/testing').split('\nexport {')
  expect(shown).toBe(ran)
})

test('the example of README runs', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  await main()
  expect(log.mock.calls).toEqual([[true, 1], [['orders', 'zookeeper']], ['SessionExpired'], [[1]]])
  log.mockRestore()
})

test('README lists every option, and no other', () => {
  // Which schemes there are follows from the others.
  const { schemes: _, ...options } = checkOptions({})
  expect(new Set(listed(section('Options')))).toEqual(new Set([...Object.keys(options), 'host', 'ports', 'tls']))
})

test('README lists every four-letter word that is answered, and no other', () => {
  const [, words] = /Four-letter words are answered ([^]*?)\.\n\n/.exec(readme)!
  expect(words!.match(/`\w{4}`/g)!.toSorted()).toEqual(answeredWords.map((word) => `\`${word}\``))
})

test.each<[what: string, of: (model: EnsembleModel) => object]>([
  ['a member', ({ members }) => members[0]!],
  ['a connection', ({ members }) => members[0]!.connections[0]!],
  ['the network', ({ network }) => network],
  ['sessions', ({ sessions }) => sessions],
  ['nodes', ({ nodes }) => nodes],
  ['the history', ({ history }) => history],
])('README names all that %s has', (_, of) => {
  const model = new EnsembleModel({ members: 1, now: () => 0, wallNow: () => 0, random: () => 0 })
  model.accept('zk1', { address: '127.0.0.1' }, 0)
  const names = Object.getOwnPropertyNames(Object.getPrototypeOf(of(model))).filter((name) => !INTERNAL.has(name))
  expect(names.length).toBeGreaterThan(1)
  const listed = section('Controls') + section('History')
  expect(names.filter((name) => !new RegExp(`\\W${name}\\W`).test(listed))).toEqual([])
})

test('README lists every option of a virtual world, and no other', () => {
  const [, table] = section('Your own code in virtual time').split('| option |')
  const [options] = table!.split('\n\n')
  expect(listed(options!)).toEqual(WORLD_OPTIONS)
})

test('README lists every fault, and no other', () => {
  const { faults } = new EnsembleModel({ now: () => 0, wallNow: () => 0, random: () => 0 })
  const others = ['constructor', 'rules', 'clear', 'take', 'isEmpty']
  const methods = Object.getOwnPropertyNames(Object.getPrototypeOf(faults)).filter((name) => !others.includes(name))
  const [, table] = section('Faults').split('| fault |')
  expect(listed(table!)).toEqual(methods)
})
