// Where a planted bug is looked for: the declarations of a source, as the formatter lays them out.
import { expect, test } from 'vitest'
import { declarationsIn } from '../src/planted/declarations.ts'

const code = `import { x } from './x.ts'

/** A comment. */
export const times = {
  short: (T: number) => T / 4,

  /** A comment of two lines. */
  long: (T: number) =>
    T * 4,
} as const

export class Thing<T extends object = object> extends Other {
  readonly #field: number
  static count = 0

  constructor(field: number) {
    super()
    this.#field = field
  }

  get size(): number {
    return this.#field
  }

  async #inner(
    one: string,
  ): Promise<void> {
    if (one) {
      await x(one)
    }
  }
}

async function last(): Promise<void> {
  await x('')
}
`

const texts = () => new Map(declarationsIn(code).map(({ name, start, end }) => [name, code.slice(start, end)]))

test('declarationsIn finds what is at the top, and the members of each', () => {
  const names = ['times', 'short', 'long', 'Thing', '#field', 'count', 'constructor', 'size', '#inner', 'last']
  const owner = (name: string) =>
    ['short', 'long'].includes(name) ? 'times.' : names.indexOf(name) > 3 ? 'Thing.' : ''
  const expected = names.map((name) => (name === 'last' ? name : `${owner(name)}${name}`))
  expect([...texts().keys()]).toEqual(expected)
})

test('declarationsIn gives the whole of each, and nothing of the next', () => {
  expect(texts().get('times.long')).toBe('  long: (T: number) =>\n    T * 4,')
  expect(texts().get('Thing.#inner')).toMatch(/^ {2}async #inner\([^]*await x\(one\)\n {4}}\n {2}}$/)
  expect(texts().get('Thing')).toMatch(/^export class Thing[^]*\n}$/)
  expect(texts().get('last')).toBe("async function last(): Promise<void> {\n  await x('')\n}")
})
