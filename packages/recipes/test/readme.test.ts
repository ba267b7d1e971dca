import { readFileSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import * as recipes from '../src/index.ts'
import {
  DoubleBarrier,
  Group,
  Lock,
  LostError,
  WaitTimeoutError,
  Mirror,
  RecipeError,
  Semaphore,
  type ZooKeeper,
} from '../src/index.ts'
import { main } from './readme-example.ts'
import { calls, everyRecipe, holdings } from './support/every-recipe.ts'
import { Scene } from './support/scene.ts'

const sourceOf = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')
const readme = sourceOf('../README.md')
/** The recipes of what is acquired and held. */
const queued = [...new Set(holdings.map(({ name }) => name.split('.')[0]!))]

test('README shows the example that runs here', () => {
  const [, shown] = /```ts\n([^]*?)```/.exec(readme)!
  const [ran] = sourceOf('readme-example.ts').replace('../src/index.ts', '@zk/recipes').split('\nexport {')
  expect(shown).toBe(ran)
})

test('the example of README runs', async () => {
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  const scene = new Scene({ members: 3 })
  await scene.done(main({ runtime: scene.world }))
  expect(log.mock.calls).toEqual([['/report-0000000001']])
  log.mockRestore()
  expect(scene.children('/app')).toEqual(['locks', 'report-0000000001'])
  expect(scene.ensemble.nodes.ephemerals()).toEqual([])
})

test('README names everything that can be acquired, and every class of errors', () => {
  for (const name of queued) expect(readme).toContain(`new ${name}(zk, path`)
  for (const { name } of [WaitTimeoutError, LostError, RecipeError]) expect(readme).toContain(`\`${name}\``)
})

type Options = object

/** Calls that README writes with their options, of what other calls resolve with. */
const ofResults: Record<string, (zk: ZooKeeper, options: Options) => unknown> = {
  'entry.leave': async (zk, options) => (await new DoubleBarrier(zk, '/a', { size: 1 }).enter()).leave(options),
  watchState: async (zk, options) => (await new Group(zk, '/a').join()).watchState(options).next(),
  synced: async (zk, options) => (await new Mirror(zk, '/a').open()).synced(options),
}

/** The calls that README means by this name. */
function callsNamed(name: string): ((zk: ZooKeeper, options: Options) => unknown)[] {
  if (name in ofResults) return [ofResults[name]!]
  return Object.entries(calls).flatMap(([each, call]) => (each.endsWith(`.${name}`) ? [call] : []))
}

/** The names of the options that the code takes, as its error for another one lists them. */
async function knownTo(call: (zk: ZooKeeper, options: Options) => unknown): Promise<string[]> {
  const scene = new Scene()
  const zk = await scene.client()
  const refused = await scene.start(
    (async () => {
      await call(zk, { bogus: 1 })
    })(),
  )
  return /unknown option bogus; known are (.+)$/.exec((refused.error as TypeError).message)![1]!.split(', ')
}

/** The names in the first column of the table with this head, and the recipes to which a row is limited. */
function rowsBelow(head: string): { readonly names: string[]; readonly of: string[] }[] {
  const [, after] = readme.split(`| ${head} | default | what it is |\n|---|---|---|\n`)
  return after!
    .split('\n\n')[0]!
    .split('\n')
    .map((row) => {
      const [names = '', limits = ''] = row.split(' | ')[0]!.split('(')
      const listed = [...limits.matchAll(/`(\w+)`/g)].map(([, name]) => name!)
      const of = limits.startsWith('all but') ? queued.filter((name) => !listed.includes(name)) : listed
      return { names: [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name!), of }
    })
}

/** Options of recipes that do not queue. */
const rowsOf: Readonly<Record<string, string[]>> = {
  Mirror: rowsBelow('option').flatMap(({ names }) => names),
  once: rowsBelow('option of `once`').flatMap(({ names }) => names),
}

test.each(Object.entries(everyRecipe))(
  'README lists the options with which a %s can be made',
  async (name, { make }) => {
    const of = rowsBelow('option of the constructor')
      .filter((row) => queued.includes(name) && (row.of.length === 0 || row.of.includes(name)))
      .flatMap(({ names }) => names)
    const inTables = rowsOf[name] ?? of
    const call = new RegExp(`^\\| \`(?:new )?${name}(?:\\.open)?\\(zk, paths?, \\{ ([^}]*) \\}(?:, body)?\\)\``, 'm')
    const shown = call.exec(readme)![1]!.split(', ')
    const isWhole = !shown.includes('…')
    const listed = new Set([...shown.filter((option) => option !== '…'), ...inTables])
    const known = await knownTo((zk, options) => make(recipes, zk, options))
    expect([...listed].sort()).toEqual([...known].sort())
    if (isWhole) expect(shown.sort()).toEqual([...known].sort())
  },
)

test.each(['acquire', 'run'] as const)('README lists the options of %s', async (method) => {
  const rows = rowsBelow('option of `acquire`, `run`')
  const listed = (of: string[]) =>
    rows.filter((row) => row.of.every((name) => of.includes(name))).flatMap(({ names }) => names)
  const call = (lock: { acquire(options: Options): unknown; run(body: () => void, options: Options): unknown }) =>
    method === 'run' ? (options: Options) => lock.run(() => {}, options) : (options: Options) => lock.acquire(options)
  const ofLock = await knownTo((zk, options) => call(new Lock(zk, '/a'))(options))
  expect(listed([method]).sort()).toEqual(ofLock.sort())
  const ofSemaphore = await knownTo((zk, options) => call(new Semaphore(zk, '/a'))(options))
  expect(listed([method, 'Semaphore']).sort()).toEqual(ofSemaphore.sort())
})

test('README writes no call with an option that it does not take', async () => {
  // A span with code such as `acquire({ count: 3 })`, but no constructor, no `open`, and no listener.
  const spans = [...readme.matchAll(/`([a-zA-Z.]+)\((?:\w+, )?\{ ([^}`…]+) \}\)`/g)]
  const written = spans.filter(([, name]) => name !== 'onUnreadable')
  expect(written.length).toBeGreaterThan(10)
  for (const [span, name, options] of written) {
    const known = await Promise.all(callsNamed(name!).map(knownTo))
    for (const option of options!.split(', ')) expect(known.flat(), span).toContain(option.split(':')[0])
  }
})
