import { readFileSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { phases, transitions } from '../src/session/protocol/states.ts'
import { stateDiagrams } from './support/state-diagram.ts'

const page = new URL('../../../ARCHITECTURE.md', import.meta.url)
const BEGIN = '<!-- session-states:begin -->\n'
const END = '\n<!-- session-states:end -->'

/** The page in three: up to the diagram, the diagram, and from there on. */
function parts(text: string): [string, string, string] {
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)]
  if (begin === -1 || end === -1) throw new Error(`ARCHITECTURE.md has no ${begin === -1 ? BEGIN : END}`)
  const from = begin + BEGIN.length
  // The markers share a line break while there is nothing between them.
  return [text.slice(0, from), text.slice(from, Math.max(from, end)), text.slice(end)]
}

test('ARCHITECTURE.md shows the states of a session as states.ts has them (UPDATE_DIAGRAM=1 draws them anew)', () => {
  const [before, shown, after] = parts(readFileSync(page, 'utf8'))
  if (process.env.UPDATE_DIAGRAM === '1') {
    writeFileSync(page, before + stateDiagrams() + after)
    return
  }
  expect(shown).toBe(stateDiagrams())
})

test('stateDiagrams says of every way of both tables where it leads', () => {
  const lines = stateDiagrams().split('\n')
  for (const [from, targets] of [...Object.entries(phases), ...Object.entries(transitions)]) {
    for (const [trigger, to] of Object.entries(targets)) {
      expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^    ${from} --> ${to}: .*\\b${trigger}\\b`)))
    }
  }
})
