import { rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { ClientProcess } from '../src/exhaustive/client-process.ts'
import { searchScopes } from '../src/exhaustive/pool.ts'
import { retrace, retraceNumbers } from '../src/exhaustive/retrace.ts'
import type { FaultType, Scope } from '../src/exhaustive/scope.ts'
import type { ScopeOutcome } from '../src/exhaustive/scope-job.ts'
import { scopeNamed, scopes } from '../src/exhaustive/scopes.ts'
import { search } from '../src/exhaustive/search.ts'
import { World } from '../src/exhaustive/world.ts'
import { bundle } from '../src/planted/bundle.ts'
import { plantedBugs } from '../src/planted/index.ts'

const lock = scopeNamed('Lock: no faults')

function withFault(scope: Scope, ...types: FaultType[]): Scope {
  return { ...scope, name: `${scope.name} but ${types.join(', ')}`, faults: { most: 1, types } }
}

describe('search', () => {
  // With three clients a search takes minutes.
  const quiet = scopes.filter(({ name, clients }) => name.endsWith(': no faults') && clients.length === 2)
  const apart = scopeNamed('SharedLock read/write: no faults, frames apart')
  const faulty = [withFault(lock, 'lose'), withFault(scopeNamed('LeaderElection: no faults'), 'abort')]

  test.each([...quiet, apart, ...faulty])('search finds nothing wrong in any history of $name', async (scope) => {
    const { isWhole, found, histories } = await search({ scope })
    expect(found).toBeUndefined()
    expect(isWhole).toBe(true)
    expect(histories).toBeGreaterThan(5)
  })

  test('search ends at its limit', async () => {
    const result = await search({ scope: lock, isOver: ({ histories }) => histories === 3 })
    expect(result).toMatchObject({ histories: 3, isWhole: false, found: undefined })
  })
})

describe('World', () => {
  test('World has no work left after the turns that it gives to promises', async () => {
    const late: string[] = []
    const drained = async (process: ClientProcess) => {
      const before = process.activity
      // All remaining work of promises is done before a macrotask.
      await new Promise((resolve) => setImmediate(resolve))
      if (process.activity !== before) late.push(`${before} calls became ${process.activity}`)
    }
    const world = await World.open({ scope: withFault(lock, 'lose'), drained })
    // The fault first: it makes the most work.
    for (let all = world.choices(); all.length > 0; all = world.choices()) {
      await world.do(all.find(({ need }) => need === 'fault') ?? all.at(-1)!)
    }
    expect(late).toEqual([])
  })
})

describe('a planted bug', () => {
  async function searchWith(name: string, scope: Scope): Promise<ScopeOutcome> {
    const bug = plantedBugs.find((each) => each.name === name)!
    const program = await bundle('exhaustive/scope-worker.ts', bug.edits)
    try {
      const [outcome] = await searchScopes({ program, scopes: [scope], workers: 1 })
      return outcome!
    } finally {
      await rm(dirname(fileURLToPath(program)), { recursive: true })
    }
  }

  const semaphore = scopeNamed('Semaphore of 1: no faults')
  const creates = 'a create whose reply was lost is repeated without a search'
  test.each([
    { bug: 'a wake-up is a grant', scope: lock, invariant: 'I9' },
    { bug: 'a release resolves before the node is gone', scope: lock, invariant: 'I4' },
    { bug: 'waits for a predecessor that is gone', scope: lock, invariant: 'I6' },
    { bug: creates, scope: withFault(lock, 'lose'), invariant: 'I4' },
    { bug: 'the smallest permit is given, whoever has it', scope: { ...semaphore, permits: 2 }, invariant: 'S2' },
    {
      bug: 'permits are taken in one transaction, and the line is left in the next',
      scope: semaphore,
      invariant: 'S3',
    },
  ])('search finds a planted bug by $invariant: $bug', async ({ bug, scope, invariant }) => {
    const { found } = await searchWith(bug, scope)
    expect(found?.violations.map((each) => each.invariant)).toContain(invariant)
  })
})

describe('retrace', () => {
  // A history with a fault in it, as a search would give it.
  async function someChoices(scope: Scope): Promise<string[]> {
    const ids: string[] = []
    const world = await World.open({ scope })
    for (let all = world.choices(); all.length > 0; all = world.choices()) {
      const choice = all.find(({ need }) => need === 'fault') ?? all[0]!
      ids.push(choice.id)
      await world.do(choice)
    }
    return ids
  }

  test('retrace plays the same history by its ids and by its numbers', async () => {
    const scope = withFault(lock, 'lose')
    const ids = await someChoices(scope)
    const byIds = await retrace(scope, ids)
    expect(byIds.violations).toEqual([])
    expect(byIds.numbers).toHaveLength(ids.length)
    for (const id of ids) expect(byIds.lines.some((line) => line.endsWith(`  ${id}`))).toBe(true)
    expect(await retraceNumbers(scope, byIds.numbers)).toEqual(byIds)
  })

  test('retrace prints frames and what clients did', async () => {
    const { lines } = await retraceNumbers(lock, [])
    expect(lines[0]).toMatch(/^ {3}1 {2}a1 → server {2}create2 \+ getChildren2/)
    expect(lines.some((line) => / > create2 .* {2}xid 1$/.test(line))).toBe(true)
    expect(lines.filter((line) => line.includes('"type":"granted"'))).toHaveLength(2)
    expect(lines.at(-1)).toMatch(/the end$/)
  })

  test('retrace rejects a number that is not a choice', async () => {
    await expect(retraceNumbers(lock, [0, 99])).rejects.toThrow(/step 2: there is no choice 99, only \d+/)
  })
})
