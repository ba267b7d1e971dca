import { expect, test } from 'vitest'
import { countsByKind, type Kind, lines } from './vectors/lines.ts'

/** Lines about what other packages do: paths of sequential nodes, containers, the choice of a server. */
const WITHOUT_SUBJECT_HERE: readonly Kind[] = ['sequence', 'ephemeralOwner', 'rebalance']

test('the vectors are the lines that their README counts', () => {
  expect(countsByKind()).toEqual({
    meta: 1,
    schema: 69,
    encode: 425,
    frame: 92,
    multi: 15,
    multiResponse: 15,
    decode: 145,
    path: 80,
    connectString: 12,
    const: 100,
    sequence: 8,
    digest: 7,
    ephemeralOwner: 5,
    rebalance: 40,
  })
})

test('the vectors were written by ZooKeeper 3.8.0', () => {
  expect(lines('meta')).toEqual([{ kind: 'meta', zookeeper: '3.8.0', seed: '0x5EED' }])
})

test('53 lines of three kinds have no subject in this package', () => {
  expect(WITHOUT_SUBJECT_HERE.reduce((sum, kind) => sum + lines(kind).length, 0)).toBe(53)
})
