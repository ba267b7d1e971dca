import { describe, expect, test } from 'vitest'
import { validatePath } from '../src/index.ts'
import { lines } from './vectors/lines.ts'

const readable = lines('path').map((line) => ({ ...line, shown: JSON.stringify(line.path) }))

describe.each([
  ['validatePath', false],
  ['validatePath for a sequential create', true],
] as const)('%s', (_name, sequential) => {
  const ofKind = readable.filter((line) => line.sequential === sequential)

  test.each(ofKind.filter(({ ok }) => ok))('returns $shown ($#)', ({ path }) => {
    expect(validatePath(path!, { sequential })).toBe(path)
  })

  test.each(ofKind.filter(({ ok }) => !ok))('refuses $shown ($#)', ({ path }) => {
    expect(() => validatePath(path as string, { sequential })).toThrow(TypeError)
  })
})
