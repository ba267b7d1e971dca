import { expect, test } from 'vitest'
import { messageOf } from '../src/command/failure.ts'
import { readArguments, UsageError } from '../src/command/options.ts'

const OPTIONS = [
  { name: 'wait', short: 'w', value: 'TIME', help: '' },
  { name: 'permits', value: 'N', help: '' },
  { name: 'nonblock', short: 'n', help: '' },
]

test.each([
  ['30s', 30_000],
  ['500ms', 500],
  ['5m', 300_000],
  ['1.5h', 5_400_000],
  ['2', 2_000],
])('duration reads %s', (text, ms) => {
  expect(readArguments(['-w', text], OPTIONS).duration('wait')).toBe(ms)
})

test.each([
  [['--permit', '3'], 'there is no option --permit: did you mean --permits?'],
  [['--xyz'], 'there is no option --xyz'],
  [['-5'], 'there is no option -5 (words that begin with - go after --)'],
  [['--wait'], "Option '-w, --wait <value>' argument missing"],
])('readArguments refuses %j', (args, message) => {
  const wrong = expect(() => readArguments(args, OPTIONS))
  wrong.toThrow(UsageError)
  wrong.toThrow(expect.toSatisfy((error) => messageOf(error) === message))
})

test.each([
  ['soon', "--wait must be a time such as 30s, 500ms, 5m, 2h or 1d, not 'soon'"],
  ['-1', '--wait'],
])('duration refuses %s', (text, message) => {
  expect(() => readArguments([`--wait=${text}`], OPTIONS).duration('wait')).toThrow(message)
})

test('wholeNumber refuses what is below its least value, or no whole number', () => {
  for (const text of ['0', '1.5', '-3', 'x', '']) {
    expect(() => readArguments([`--permits=${text}`], OPTIONS).wholeNumber('permits', 1)).toThrow(
      `--permits must be a whole number of at least 1, not '${text}'`,
    )
  }
  expect(readArguments(['--permits', '3'], OPTIONS).wholeNumber('permits', 1)).toBe(3)
})
