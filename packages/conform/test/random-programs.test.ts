// Random programs find what a server does differently, without knowing what to look for.
import * as fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  countOf,
  type Difference,
  formatAtoms,
  formatProgram,
  fuzz,
  type FuzzOptions,
  type FuzzResult,
  parseAtoms,
  type Program,
  programs,
  type ProgramOptions,
  select,
  shorten,
  type Target,
  VirtualTarget,
} from '@zk/conform/internal'
import { worldsOf } from './broken/broken-server.ts'
import { brokenServers } from './broken/servers.ts'

const release = '3.9.6'

function optionsFor(target: Target, of: Partial<ProgramOptions & FuzzOptions> = {}): FuzzOptions {
  return {
    programs: programs({ release, mostSteps: 60, superUser: 'super:secret', hasTTL: true, ...of }),
    oracle: new VirtualTarget({ release: of.release ?? release }),
    target,
    count: 1,
    seed: 1,
    isAlive: async () => true,
    ...of,
  }
}

/** Fails each setData of `/a/y`. */
const planted = new VirtualTarget({
  release,
  prepare: ({ faults }) => faults.fail({ op: 'setData', path: /\/a\/y$/, code: 'NotEmpty', times: Infinity }),
})

test.each(['3.5.10', '3.8.7', '3.9.6'])(
  'servers of %s do not differ from servers of the same release',
  async (release) => {
    const of = { release, isHostile: true, isAlone: true, count: 3 }
    const result = await fuzz(optionsFor(new VirtualTarget({ release }), of))
    expect(result).toMatchObject({ tried: 3, equal: 3, differences: [], withoutVerdict: [], stoppedBy: undefined })
  },
)

test.each([
  ['watches/9', 'event: missing NodeChildrenChanged'],
  ['watches/21', 'event: not expected Node'],
  ['watches/35', 'event: not expected Node'],
])('a server that breaks %s is found within 40 programs, by a short one', { timeout: 60_000 }, async (clause, kind) => {
  const server = brokenServers.find((each) => each.clause === clause)!
  const target = new VirtualTarget({ release, newWorld: await worldsOf(server) })
  let found: Difference | undefined
  for (let seed = 1; found === undefined && seed <= 40; seed++) {
    found = (await fuzz(optionsFor(target, { seed }))).differences[0]
  }
  expect(found?.kind).toContain(kind)
  expect(countOf(found!.program)).toBeLessThanOrEqual(8)
})

describe('a planted difference', () => {
  let result: FuzzResult

  beforeAll(async () => {
    result = await fuzz(optionsFor(planted, { seed: 2, count: 6 }))
  }, 60_000)

  test('is told once, with its frames', () => {
    const { tried, equal, differences } = result
    expect(equal).toBeLessThan(tried)
    const kinds = differences.flatMap(({ kind, followedBy }) => [kind, ...followedBy])
    expect(new Set(kinds).size).toBe(kinds.length)
    const [{ kind, program, expectedFrames, actualFrames }] = differences as [Difference]
    expect(kind).toContain('setData')
    expect(formatProgram(program.slice(-1))).toContain("op: 'setData', request: { path: '/a/y'")
    for (const frames of [expectedFrames, actualFrames]) {
      expect(frames.map(({ direction }) => direction)).toEqual(['sent', 'received'])
    }
  })

  test('is shown again by the atoms of its program', async () => {
    const [{ kind, seed, atoms, program }] = result.differences as [Difference]
    const again = await fuzz(optionsFor(planted, { seed, only: parseAtoms(formatAtoms(atoms)) }))
    expect(again.differences.map((each) => [each.kind, formatProgram(each.program)])).toEqual([
      [kind, formatProgram(program)],
    ])
  })

  test('is told without shortening its program if it is known', async () => {
    const [{ kind, seed, atoms }] = result.differences as [Difference]
    const { differences } = await fuzz(optionsFor(planted, { seed, known: new Set([kind]) }))
    expect(differences[0]!.kind).toBe(kind)
    expect(differences[0]!.atoms.length).toBeGreaterThan(atoms.length)
  })
})

test('what shows only after another difference is told with it', async () => {
  const refusing = new VirtualTarget({
    release,
    prepare: ({ faults }) => faults.fail({ op: 'create', path: /\/b$/, code: 'NotEmpty', times: Infinity }),
  })
  const { differences } = await fuzz(optionsFor(refusing, { count: 3 }))
  expect(differences[0]!.kind).toContain('create: Ok → NotEmpty')
  expect(differences[0]!.followedBy).not.toEqual([])
})

test('a program without an end has no verdict, and ends the run only if the server has stopped', async () => {
  const frozen: Target = {
    use: (play) =>
      new VirtualTarget({ members: 1 }).use(async (stage) => {
        await stage.freeze('leader')
        return play(stage)
      }),
  }
  const on = await fuzz(optionsFor(frozen, { count: 2 }))
  expect(on).toMatchObject({ tried: 0, withoutVerdict: [{ seed: 1 }, { seed: 2 }], stoppedBy: undefined })
  const off = await fuzz(optionsFor(frozen, { count: 2, isAlive: async () => false }))
  expect(off).toMatchObject({ tried: 0, withoutVerdict: [{ seed: 1 }], stoppedBy: { seed: 1 } })
})

test('without permission, no program has what may hurt a server', () => {
  const drawn = formatAll(programs({ release }))
  expect(drawn).not.toMatch(/op: 'cut'|op: 'servers'|op: 'createTTL'|super:/)
  expect(formatAll(programs({ release: '3.5.10', hasTTL: true }))).not.toMatch(/addWatch|setWatches2|multiRead|whoAmI/)
  expect(formatAll(programs({ release, hasTTL: true }))).toMatch(/createTTL/)
})

function formatAll(drawn: FuzzOptions['programs']): string {
  return fc.sample(drawn, { seed: 1, numRuns: 20 }).map(formatProgram).join('\n')
}

test('select numbers each request and each part of a request', () => {
  const program: Program = [
    { session: 0, do: 'open', at: 'leader' },
    {
      session: 0,
      do: 'call',
      calls: [
        { op: 'exists', request: { path: '/a', watch: false } },
        {
          op: 'multiRead',
          request: [
            { type: 4, request: { path: '/a', watch: false } },
            { type: 8, request: { path: '/b', watch: false } },
          ],
        },
      ],
    },
    { session: 0, do: 'call', calls: [] },
    { session: 0, do: 'close' },
  ]
  expect(select(program)).toMatchObject({ atoms: [0, 1, 2, 3, 4], steps: [0, 1, 1, 1, 2] })
  expect(select(program, (atom) => atom === 0 || atom === 3).program).toMatchObject([
    { do: 'open' },
    { do: 'call', calls: [{ op: 'multiRead', request: [{ type: 8 }] }] },
  ])
})

test('shorten keeps what is necessary', async () => {
  let plays = 0
  const needed = [3, 40, 41, 90]
  const tried = async (atoms: readonly number[]): Promise<readonly number[] | undefined> => {
    plays++
    return needed.every((atom) => atoms.includes(atom)) ? atoms : undefined
  }
  const all = Array.from({ length: 100 }, (_, index) => index)
  expect(await shorten(all, tried, () => false)).toEqual(needed)
  expect(plays).toBeLessThan(70)
  expect(await shorten(all, tried, () => true)).toEqual(all)
})

test('atoms are written as ranges, and read again', () => {
  expect(formatAtoms([0, 1, 2, 17, 19, 20])).toBe('0-2,17,19-20')
  expect([...parseAtoms('0-2,17,19-20')!]).toEqual([0, 1, 2, 17, 19, 20])
  for (const text of ['', '1-', 'a', '1;2', '-1']) expect(parseAtoms(text)).toBeUndefined()
})
