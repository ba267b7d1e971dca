// The mould of the public API, which docs/guide/api.md shows, from the reports in docs/api.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root } from './workspace.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const reports = { client: read('docs/api/client.api.md'), recipes: read('docs/api/recipes.api.md') }
const both = reports.client + reports.recipes

/** The exported classes and interfaces: the name, and the lines between the braces. */
function declared(report: string): { readonly name: string; readonly members: string }[] {
  const all = report.matchAll(/^export (?:class|interface) (\w+)[^\n]*\{\n([^]*?)^\}/gm)
  return Array.from(all, ([, name, members]) => ({ name: name!, members: members! }))
}

test.each([
  ['client', 80],
  ['recipes', 70],
] as const)('@zk/%s has at most %i exports', (name, bound) => {
  expect(reports[name].match(/^export /gm)!.length).toBeLessThanOrEqual(bound)
})

test('connect has at most twelve options besides those of advanced', () => {
  const { members } = declared(reports.client).find(({ name }) => name === 'ConnectOptions')!
  expect(members.match(/^ {4}\w+\?:/gm)!.length).toBeLessThanOrEqual(12)
})

test('A recipe is made of a client, a path and options', () => {
  const made = [...reports.recipes.matchAll(/^ {4}constructor\((zk: [^)]*)\)/gm)].map(([, parameters]) => parameters)
  expect(made.length).toBeGreaterThan(9)
  for (const parameters of made)
    expect(parameters).toMatch(/^zk: ZooKeeper, paths?: [\w| ]*(?:\[\])?.*, options\??: \w+$/)
})

describe('What is watched', () => {
  const returned = Array.from(
    both.matchAll(/^ {4}(watch\w*)\(.*\): (.*);$/gm),
    ([, name, type]) => [name!, type!] as const,
  )

  test('has a name that begins with watch, and a WatchIterator', () => {
    expect(returned.length).toBeGreaterThan(6)
    for (const [name, type] of returned) expect(type, name).toMatch(/^(?:Promise<)?WatchIterator</)
  })

  test('is the only thing that iterates, besides terms, walk and the entries of a mirror', () => {
    const others = both.split('\n').filter((line) => /: (?:Async)?(?:Iterable)?(?:Generator|Iterator)\w*</.test(line))
    const names = others.map((line) => /(\w+)\(/.exec(line)![1]!).sort()
    expect(names).toEqual(['entries', 'terms', 'walk'])
  })
})

test('What is held is released, and what is open is closed', () => {
  const ended = declared(both).flatMap(({ name, members }) =>
    Array.from(
      members.matchAll(/^ {4}(release|close|leave|stop|end|dispose)\(.*\): Promise/gm),
      ([, verb]) => `${name}.${verb}`,
    ),
  )
  expect(ended.sort()).toEqual([
    'BarrierEntry.leave',
    'Held.release',
    'Membership.release',
    'OpenMirror.close',
    'Registration.release',
    'ZooKeeper.close',
  ])
})

test('Every call that takes a timeout takes WaitOptions, or options that extend them', () => {
  const withTimeout = declared(both).filter(({ members }) => /^ {4}timeout\?: number/m.test(members))
  const own = withTimeout.filter(
    ({ name }) => !new RegExp(`interface ${name} extends .*(?:WaitOptions|HoldListeners)`).test(both),
  )
  expect(own.map(({ name }) => name).sort()).toEqual(['JoinOptions', 'WaitOptions'])
})

test('Every error extends ZkError, and has a code', () => {
  const errors = [...both.matchAll(/^export (?:abstract )?class (\w*Error) extends (\w+)/gm)]
  expect(errors.map(([, name]) => name!).sort()).toEqual([
    'ConnectError',
    'KeeperError',
    'LostError',
    'RecipeError',
    'WaitTimeoutError',
    'ZkError',
  ])
  for (const [, name, base] of errors) expect(base, name).toBe(name === 'ZkError' ? 'Error' : 'ZkError')
})
