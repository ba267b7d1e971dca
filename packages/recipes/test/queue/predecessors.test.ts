// Which contenders of a list count as ahead, where the list is not what it was when the contender joined.
import { expect, test } from 'vitest'
import { type ContenderName, parseName } from '../../src/queue/names.ts'
import { Predecessors } from '../../src/queue/predecessors.ts'
import { exclusive } from '../../src/queue/roles.ts'
import { listOf as listOfKinds } from '../support/lists.ts'

const nameOf = (letter: string, counter: string) =>
  parseName(`_c_${letter.repeat(8)}-0000-4000-8000-000000000000-lock-${counter}`, [exclusive.kind])!

const listOf = (...contenders: ContenderName[]) =>
  listOfKinds(
    [exclusive.kind],
    contenders.map(({ name }) => name),
  )

test('Predecessors.ahead counts no contender with a negative number: the counter went on there, so it is younger (before 3.6)', () => {
  const [older, own, negative, other] = [
    nameOf('a', '0000000001'),
    nameOf('b', '0000000002'),
    nameOf('c', '-2147483647'),
    nameOf('d', '-2147483646'),
  ] as const
  const line = Predecessors.byNumber(own)
  expect(line.ahead(listOf(negative, other, older, own)).all).toEqual([older])
  expect(line.ahead(listOf(negative, other, own)).all).toEqual([])
})
