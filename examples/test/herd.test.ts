import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { chart } from '../src/herd/chart.ts'
import { type Cost, costOfRelease } from '../src/herd/measure.ts'

const FEW = 10
const MANY = 50

test('a release wakes all contenders if they all watch one node', async () => {
  for (const waiters of [FEW, MANY]) {
    expect((await costOfRelease('all watch one node', waiters)).notifications).toBe(waiters)
  }
})

test('a release wakes all contenders if they all watch the list, at quadratic cost', async () => {
  const few = await costOfRelease('all watch the list', FEW)
  const many = await costOfRelease('all watch the list', MANY)
  expect([few.notifications, many.notifications]).toEqual([FEW, MANY])
  expect(many.bytes / few.bytes).toBeGreaterThan(3 * (MANY / FEW))
})

test('a release of our lock wakes one contender, at the same cost for any number of them', async () => {
  const few = await costOfRelease('@zk/recipes', FEW)
  const many = await costOfRelease('@zk/recipes', MANY)
  expect([few.notifications, many.notifications]).toEqual([1, 1])
  // A ping may come in between.
  expect(many.bytes - few.bytes).toBeLessThan(100)
})

test('the chart has a line for each lock in both panels', () => {
  const costs = (factor: number): Cost[] =>
    [10, 100].map((waiters) => ({ waiters, notifications: factor, bytes: factor * waiters }))
  const drawn = chart({ one: costs(1), other: costs(10) })
  expect(drawn.match(/<polyline/g)).toHaveLength(4)
  expect(drawn).not.toMatch(/NaN|Infinity|undefined/)
  const kept = readFileSync(new URL('../../docs/herd.svg', import.meta.url), 'utf8')
  expect(kept.match(/<polyline/g)).toHaveLength(6)
})

test('single-node takes turns, one at a time', async () => {
  const program = fileURLToPath(new URL('../dist/single-node.js', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [program])
  expect(stdout.match(/holds, 1 at once/g)).toHaveLength(3)
  expect(stdout).toMatch(/notifications for 3 turns/)
})
