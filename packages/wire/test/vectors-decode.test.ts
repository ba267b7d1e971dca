import { expect, test } from 'vitest'
import { decode, ProtocolError } from '../src/index.ts'
import { bytesOf } from './bytes.ts'
import { type Fields, lines, rows } from './vectors/lines.ts'
import { recordNamed, valueOf } from './vectors/values.ts'

const REFUSED = { error: 'ProtocolError' } as const
type Outcome = { readonly value: unknown } | typeof REFUSED

/** Where Java reads a value and we refuse. */
const REFUSED_BY_US_ALONE = [
  {
    what: 'a vector of -2147483648 items, which Java reads as empty',
    record: 'proto.GetChildrenResponse',
    hex: '8000000061626364',
  },
]

const isRefusedByUsAlone = (line: { record: string; hex: string }) =>
  REFUSED_BY_US_ALONE.some(({ record, hex }) => record === line.record && hex === line.hex)
/** Java puts one U+FFFD for a surrogate in three bytes; a TextDecoder, as everywhere outside Java, puts three. */
const isMalformed = (line: { ok: boolean; v?: Fields }) => line.ok && JSON.stringify(line.v).includes('\ufffd')

const compared = lines('decode').filter((line) => !isRefusedByUsAlone(line))
const malformed = compared.filter(isMalformed)
const exact = compared.filter((line) => !isMalformed(line))

test('136 lines are compared to the letter, 8 hold malformed UTF-8, and 1 is refused by us alone', () => {
  expect([exact.length, malformed.length, lines('decode').length - compared.length]).toEqual([136, 8, 1])
})

const titleOf = ({ record, why }: { record: string; why: string }) => `${record}, ${why}`

test.each(rows(exact, titleOf))('decode makes what Java makes of %s', (_title, line) => {
  expect(outcome(line.record, line.hex)).toStrictEqual(javas(line))
})

test.each(rows(malformed, titleOf))(
  'decode makes what Java makes, but for the number of U+FFFD, of %s',
  (_title, line) => {
    expect(withoutRuns(outcome(line.record, line.hex))).toStrictEqual(withoutRuns(javas(line)))
  },
)

test.each(rows(REFUSED_BY_US_ALONE, ({ what }) => what))('decode refuses %s', (_title, { record, hex }) => {
  expect(lines('decode').find((line) => isRefusedByUsAlone(line))?.ok).toBe(true)
  expect(outcome(record, hex)).toEqual(REFUSED)
})

function javas(line: { record: string } & ({ ok: true; v: Fields } | { ok: false })): Outcome {
  return line.ok ? { value: valueOf(line.record, line.v) } : REFUSED
}

/** The value with one U+FFFD in place of several in a row. */
function withoutRuns(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll(/\ufffd+/g, '\ufffd')
  if (Array.isArray(value)) return value.map(withoutRuns)
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withoutRuns(field)]))
}

/** A value or a `ProtocolError`; anything else fails the test. */
function outcome(record: string, hex: string): Outcome {
  try {
    return { value: decode(recordNamed(record), bytesOf(hex)) }
  } catch (error) {
    if (error instanceof ProtocolError) return REFUSED
    throw error
  }
}
