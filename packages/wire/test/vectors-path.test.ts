import { describe, expect, test } from 'vitest'
import { validatePath } from '../src/index.ts'
import { lines, rows } from './vectors/lines.ts'

const quoted = ({ path }: { path: string | null }) => JSON.stringify(path)
const accepted = lines('path').filter(({ ok }) => ok)
const refused = lines('path').filter(({ ok }) => !ok)

describe.each([
  ['validatePath', false],
  ['validatePath for a sequential create', true],
] as const)('%s', (_name, forSequential) => {
  const ofKind = ({ sequential }: { sequential: boolean }) => sequential === forSequential

  test.each(rows(accepted.filter(ofKind), quoted))('returns %s, as Java does', (_title, { path, sequential }) => {
    expect(validatePath(path!, { sequential })).toBe(path)
  })

  test.each(rows(refused.filter(ofKind), quoted))('refuses %s, as Java does', (_title, { path, sequential }) => {
    expect(() => validatePath(path as string, { sequential })).toThrow(TypeError)
  })
})
