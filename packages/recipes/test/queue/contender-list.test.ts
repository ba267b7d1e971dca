// The list over bytes finds what parsing and sorting all names finds.
import { expect, test } from 'vitest'
import type { Ahead } from '../../src/queue/contender-list.ts'
import { type ContenderName, type Kind, parseName } from '../../src/queue/names.ts'
import { candidate, exclusive, reader, writer } from '../../src/queue/roles.ts'
import { giveOrder, bySequence } from '../../src/queue/sequences.ts'
import { pick, SeededRandom } from '../../../client/test/support/random.ts'
import { listOf } from '../support/lists.ts'
import { isWholeSweep } from '../support/sweeps.ts'

const LISTS = isWholeSweep ? 3_000 : 600
const UUID = '64a1d9f2-3c07-4f0e-9d43-0b1a7c55e2f8'

const successor: Kind = { name: 'after', marker: 'after-' }
/** Kinds that queue together. The last ones are as confusing as kinds can be. */
const rivals: readonly (readonly Kind[])[] = [
  exclusive.kinds,
  candidate.kinds,
  reader.kinds,
  [{ name: 'before', marker: 'before-', successor }, successor, { name: 'other', marker: 'é' }],
  [
    { name: 'bare', marker: 'lock' },
    { name: 'dashed', marker: 'lock-' },
  ],
  [
    { name: 'longer', marker: 'dead-beef-' },
    { name: 'shorter', marker: 'beef-' },
  ],
  [{ name: 'dash', marker: '-' }],
  [{ name: 'none', marker: '' }],
  [{ name: 'hexadecimal', marker: 'dead-' }],
]

/** Without any byte of a list: the names are parsed and sorted, as text. */
function oracle(names: readonly string[], kinds: readonly Kind[]) {
  const follows = ({ kind }: ContenderName) => Number(kinds.some((each) => each.successor === kind))
  const all = names
    .map((name) => parseName(name, kinds))
    .filter((name) => name !== undefined)
    .sort((one, other) => bySequence(one, other) || follows(one) - follows(other))
  return { all, below: (bound: number) => all.filter(({ sequence }) => sequence >= 0 && sequence < bound) }
}

/** The same names come out of every question. */
function expectSame(ahead: Ahead, expected: readonly ContenderName[], kinds: readonly Kind[]): void {
  // The last ones come first: later questions find all names parsed.
  for (const count of [0, 1, 2, 5]) {
    expect(ahead.last(count)).toEqual(count === 0 ? [] : expected.slice(-count))
    for (const kind of kinds) {
      expect(ahead.last(count, kind)).toEqual(
        count === 0 ? [] : expected.filter((each) => each.kind === kind).slice(-count),
      )
    }
  }
  expect(ahead.length).toBe(expected.length)
  expect(ahead.all).toEqual(expected)
}

function drawNames(random: SeededRandom, kinds: readonly Kind[]): string[] {
  const marker = () => pick(random, [...kinds.map((kind) => kind.marker), 'lock-', 'x'])
  const hex = (length: number) => Array.from({ length }, () => random.below(16).toString(16)).join('')
  const uuid = () => {
    const whole = [hex(8), hex(4), hex(4), hex(4), hex(12)].join('-')
    return pick(random, [whole, whole, whole, whole.replaceAll('-', ''), hex(34), UUID, `${hex(31)}-`, `${hex(30)}-é`])
  }
  // Most lists are usual ones: the pass over the bytes must not give up on them.
  const isUsual = random.below(2) === 0
  const number = () => {
    const usual = String(random.below(40)).padStart(10, '0')
    if (isUsual || random.below(4) > 0) return usual
    const odd = [2_147_483_647, 2_146_483_647, 2_146_483_648, -1, -999_999_999, -1_000_000_000, -2_147_483_648]
    const texts = odd.map((each) => (each < 0 ? `-${String(-each).padStart(9, '0')}` : String(each)))
    return pick(random, [
      ...texts,
      '-0000000005',
      '9999999999',
      '4294967296',
      '000000001',
      '00000000001',
      '',
      'x000000001',
    ])
  }
  const foreign = () =>
    pick(random, ['', 'a', 'readme', 'é', 'lock-0000000001', `${UUID}__lock__0000000001`, '\ud83d\ude00'])
  const name = () =>
    random.below(8) === 0 ? foreign() : `${pick(random, ['_c_', '_c_', '_c_', '_C_'])}${uuid()}-${marker()}${number()}`
  return [...new Set(Array.from({ length: random.below(12) }, name))]
}

test(`ContenderList says of ${LISTS} lists at random what parsing all names says`, () => {
  let ordered = 0
  for (let seed = 1; seed <= LISTS; seed++) {
    const random = new SeededRandom(seed)
    const kinds = pick(random, rivals)
    const names = drawNames(random, kinds)
    const expected = oracle(names, kinds)
    // Each question has a list of its own: none may profit from the names that another has parsed.
    const list = () => listOf(kinds, names)
    expect(list().isInOrder).toBe(giveOrder(expected.all))
    if (list().isInOrder) ordered++
    expect(list().all).toEqual(expected.all)
    for (const own of expected.all) {
      expect(list().shows(own)).toBe(true)
      expect(list().shows({ ...own, name: `${own.name}0` })).toBe(false)
      expectSame(list().below(own.sequence), expected.below(own.sequence), kinds)
      const bound = own.sequence + 1
      const others = expected.below(bound).filter((each) => each.name !== own.name)
      expectSame(list().below(bound).without(own), others, kinds)
    }
    expectSame(list().everyone, expected.all, kinds)
    const [one, other] = expected.all
    if (one === undefined || other === undefined) continue
    expectSame(list().everyone.without(other).without(one), expected.all.slice(2), kinds)
  }
  // Both ways of the code are taken often.
  expect(ordered).toBeGreaterThan(LISTS / 2)
  expect(ordered).toBeLessThan(LISTS * 0.9)
})

test.each([
  ['lock-', exclusive.kinds],
  ['__READ__', reader.kinds],
  ['__WRIT__', writer.kinds],
])('ContenderList takes no byte of a name with %s for granted', (marker, kinds) => {
  const name = `_c_${UUID}-${marker}0000000007`
  const behind = `_c_${UUID}-${marker}0000000009`
  const bytes = '\0-/09:_`aflLRW\x7f'.split('')
  for (let at = 0; at < name.length; at++) {
    for (const byte of bytes) {
      for (const changed of [
        name.slice(0, at) + byte + name.slice(at + 1),
        name.slice(0, at) + byte + name.slice(at),
      ]) {
        const names = [changed, behind]
        const expected = oracle(names, kinds)
        expect(listOf(kinds, names).isInOrder).toBe(giveOrder(expected.all))
        expect(listOf(kinds, names).below(9).last(1)).toEqual(expected.below(9).slice(-1))
        expect(listOf(kinds, names).everyone.last(1)).toEqual(expected.all.slice(-1))
      }
    }
  }
})

test('ContenderList finds two of one kind with the same number among many, and none where there is none', () => {
  const nameOf = (number: number, letter = 'a') =>
    `_c_${letter.repeat(8)}-0000-4000-8000-000000000000-lock-${String(number).padStart(10, '0')}`
  for (const step of [1, 2, 1_024, 65_536, 1_000_003]) {
    const names = Array.from({ length: 500 }, (_, index) => nameOf(index * step))
    expect(listOf(exclusive.kinds, names).isInOrder).toBe(true)
    for (const twin of [0, 1, 250, 499]) {
      expect(listOf(exclusive.kinds, [...names, nameOf(twin * step, 'b')]).isInOrder).toBe(false)
    }
  }
})
